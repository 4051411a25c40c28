import assert from "node:assert/strict";
import type { Client } from "../../../lib/cli/client.ts";
import type { Finding } from "../../../lib/cli/doctor/check.ts";
import { abilities, latency, type ServerContext, version } from "../../../lib/cli/doctor/server_checks.ts";
import { files, program, terminal } from "../../../lib/cli/doctor/work_checks.ts";
import type { CollectedOutput, RunOptions } from "../../../lib/client/process.ts";
import { ManualClock } from "../../support/manual_clock.ts";

const INFO = {
  executorVersion: "0.171.0",
  serverInfo: null,
  platformOs: "linux",
  tempDir: "file:///tmp",
  capabilities: {},
};

function context(parts: Partial<Record<keyof Client, unknown>>, info: Record<string, unknown> = {}): ServerContext {
  const client = {
    info: () => Promise.resolve({ ...INFO, ...info }),
    hasExtensions: () => Promise.resolve(false),
    ...parts,
  } as unknown as Client;
  return { client, clock: new ManualClock(), signal: new AbortController().signal };
}

const printing = (stdoutText: string, more: Partial<CollectedOutput> = {}) => {
  const ran: RunOptions[] = [];
  const run = (options: RunOptions) => {
    ran.push(options);
    return Promise.resolve({ code: 0, signal: null, stdoutText, stderrText: "", ...more });
  };
  return { ran, run };
};

const statusOf = async (finding: Promise<Finding>) => (await finding).status;

Deno.test("a server of another release is worth a note", async () => {
  assert.deepEqual(await version.look(context({})), {
    status: "ok",
    detail: "codex exec-server on linux, wire of 0.171.0",
  });
  const { status, advice } = await version.look(context({}, { executorVersion: "0.99.0" }));
  assert.equal(status, "note");
  assert.match(advice!, /we speak the wire of 0\.171\.0/);
});

Deno.test("latency is the median of twenty answers", async () => {
  let calls = 0;
  const at = context({
    status: () => {
      calls++;
      (at.clock as ManualClock).advance(calls === 7 ? 900 : calls % 2 === 0 ? 10 : 20);
      return Promise.resolve({ state: "ready" });
    },
  });
  assert.deepEqual(await latency.look(at), {
    status: "ok",
    detail: "15.0 ms for an answer (median of 20, at most 900.0 ms)",
  });
  assert.equal(calls, 20);
  const slow = context({
    status: () => {
      (slow.clock as ManualClock).advance(300);
      return Promise.resolve({ state: "ready" });
    },
  });
  assert.equal(await statusOf(latency.look(slow)), "note");
  const lost = context({ status: () => Promise.resolve({ state: "disconnected", error: "gone" }) });
  assert.deepEqual((await latency.look(lost)).detail, "gone");
});

Deno.test("what a server without our extensions cannot do is said", async () => {
  assert.match((await abilities.look(context({}))).detail, /no window size.*; files of at most about 12 MiB/);
  const streaming = { capabilities: { fileWriteStreaming: true } };
  assert.doesNotMatch((await abilities.look(context({}, streaming))).detail, /12 MiB/);
  assert.equal(await statusOf(abilities.look(context({ hasExtensions: () => Promise.resolve(true) }))), "ok");
});

Deno.test("a program or a terminal that does something else is a failure", async () => {
  assert.equal(await statusOf(program.look(context(printing("it runs\n")))), "ok");
  assert.equal(await statusOf(program.look(context(printing("nonsense")))), "failed");
  assert.match((await program.look(context(printing("", { code: 127 })))).detail, /exit code 127/);
  assert.equal(await statusOf(terminal.look(context(printing("it is one\r\n")))), "ok");
  const none = await terminal.look(context(printing("", { code: 1 })));
  assert.deepEqual([none.status, /\/dev\/ptmx/.test(none.advice!)], ["failed", true]);
});

Deno.test("on Windows the shell is another one", async () => {
  const { ran, run } = printing("it runs\r\n");
  await program.look(context({ run }, { platformOs: "windows" }));
  assert.deepEqual(ran[0]!.argv, ["cmd.exe", "/d", "/c", "echo it runs"]);
});

Deno.test("a file that comes back as another is a failure, and is removed", async () => {
  const removed: unknown[] = [];
  const at = context({
    files: {
      writeFile: () => Promise.resolve(),
      stat: () => Promise.resolve({ size: 1_500_000 }),
      open: () => Promise.resolve(new Blob([new Uint8Array(1_500_000)]).stream()),
      remove: (path: string) => {
        removed.push(path);
        return Promise.resolve();
      },
    },
  });
  const { status, detail } = await files.look(at);
  assert.deepEqual([status, detail], ["failed", "a file in /tmp came back as another"]);
  assert.match(String(removed[0]), /^file:\/\/\/tmp\/\.[0-9a-f]{16}\.exec-server-doctor$/);
});
