import assert from "node:assert/strict";
import type { Client, ProcessSummary } from "../../lib/cli/client.ts";
import { look } from "../../lib/cli/ps_run.ts";
import { type DetachedProcess, DetachedProcesses } from "../../lib/cli/state.ts";
import { connectError, serverError, SESSION_ATTACHED } from "../../lib/client/client_error.ts";
import { FakeCli } from "./fake_cli.ts";

const saved = (id: string): DetachedProcess => ({
  id,
  target: { url: `ws://${id}` },
  sessionId: `session-${id}`,
  startedAt: new Date(`2026-01-01T00:00:${id.slice(1).padStart(2, "0")}Z`),
  program: "make",
});

const summary = (processId: string, end: ProcessSummary["end"] = null): ProcessSummary => ({
  processId,
  pid: 1,
  argv: ["/bin/make", "all"],
  tty: false,
  hasStdin: false,
  startedAtMs: 0,
  end,
  closed: end !== null,
  sandboxType: "none",
});

/** A server of ours whose session has these processes. */
const ours = (...summaries: ProcessSummary[]): Client => ({
  hasExtensions: () => Promise.resolve(true),
  processes: () => Promise.resolve(summaries),
  [Symbol.asyncDispose]: () => Promise.resolve(),
} as Partial<Client> as Client);

async function scene(ids: readonly string[], open: (id: string) => Client | Error) {
  const directory = await Deno.makeTempDir({ prefix: "exec-server-ps-" });
  const states = new DetachedProcesses(directory);
  for (const id of ids) await states.save(saved(id));
  let most = 0;
  let asked = 0;
  try {
    const found = await look(states, new FakeCli(), async (target, _cli, options) => {
      most = Math.max(most, ++asked);
      await Promise.resolve();
      asked--;
      assert.equal(target.kind, "url");
      const answer = open((options?.resumeSessionId ?? "").slice("session-".length));
      if (answer instanceof Error) throw answer;
      return answer;
    });
    return { ...found, most, left: (await states.list()).processes.map(({ id }) => id) };
  } finally {
    await Deno.remove(directory, { recursive: true });
  }
}

Deno.test("ps tells of every process what its server says, or why it says nothing", async () => {
  const answers: Record<string, Client | Error> = {
    p1: ours(summary("p1")),
    p2: ours(summary("p2", { exitCode: 137, signal: "SIGKILL", reason: "timeLimit" })),
    p3: connectError("ws://p3", "IO error: Connection refused"),
    p4: serverError(SESSION_ATTACHED, "session is already attached to another connection"),
  };
  const { listed, gone } = await scene(Object.keys(answers), (id) => answers[id]!);
  assert.deepEqual(gone, []);
  assert.deepEqual(listed.map(({ id, state, exitCode, signal, reason }) => [id, state, exitCode, signal, reason]), [
    ["p1", "running", null, null, null],
    ["p2", "ended", 137, "SIGKILL", "timeLimit"],
    ["p3", "unreachable", null, null, null],
    ["p4", "in use", null, null, null],
  ]);
  assert.match(listed[2]!.error!, /Connection refused/);
});

Deno.test("ps forgets what its server does not know: the session, or the process in it", async () => {
  const answers: Record<string, Client | Error> = {
    p1: serverError(-32600, "unknown session id session-p1"),
    p2: ours(),
    p3: serverError(-32600, "something else"),
  };
  const { listed, gone, left } = await scene(Object.keys(answers), (id) => answers[id]!);
  assert.deepEqual(gone, ["p1", "p2"]);
  assert.deepEqual(left, ["p3"]);
  assert.deepEqual(listed.map(({ id, state }) => [id, state]), [["p3", "unreachable"]]);
});

Deno.test("ps shows other programs of a session without an id of ours", async () => {
  const { listed } = await scene(["p1"], () => ours(summary("p1"), summary("child")));
  assert.deepEqual(listed.map(({ id, program }) => [id, program]), [["p1", "/bin/make"], [null, "/bin/make"]]);
});

Deno.test("ps asks a bounded number of servers at once", async () => {
  const ids = Array.from({ length: 20 }, (_, i) => `p${i}`);
  const { listed, most } = await scene(ids, (id) => ours(summary(id)));
  assert.deepEqual(listed.map(({ id }) => id), ids);
  assert.equal(most, 8);
});
