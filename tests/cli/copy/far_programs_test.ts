import assert from "node:assert/strict";
import { complaint, FarPrograms, modeOf } from "../../../lib/cli/copy/far_programs.ts";
import { FarSide } from "../../../lib/cli/copy/far_side.ts";
import { ClientError } from "../../../lib/client/client_error.ts";
import type { CollectedOutput, RunOptions } from "../../../lib/client/process.ts";

type Outcome = Partial<CollectedOutput> | ClientError;

function programs(outcomes: Record<string, Outcome>, platformOs = "linux") {
  const ran: string[] = [];
  const environment = {
    run({ argv }: RunOptions): Promise<CollectedOutput> {
      ran.push(argv.join(" "));
      const outcome = outcomes[argv[0]!];
      if (outcome instanceof ClientError) return Promise.reject(outcome);
      return Promise.resolve({ code: 0, signal: null, stdoutText: "", stderrText: "", ...outcome } as CollectedOutput);
    },
  };
  const far = new FarSide(
    environment as unknown as ConstructorParameters<typeof FarSide>[0],
    { platformOs, cwd: "file:///", capabilities: {} } as unknown as ConstructorParameters<typeof FarSide>[1],
    new AbortController().signal,
  );
  return { ran, programs: new FarPrograms(far) };
}
const missing = new ClientError("server", "no", { code: -32603, dataKind: "spawnNotFound" });

Deno.test("permission bits are read from a line of ls", () => {
  assert.equal(modeOf("-rwxr-x--- 1 root root 5 Jan 1 00:00 /x"), 0o750);
  assert.equal(modeOf("-rwsr-Sr-T 1 root root 5 Jan 1 00:00 /x"), 0o744);
  assert.equal(modeOf("drwxrwxrwt. 1 root root 5 Jan 1 00:00 /x"), 0o777);
  assert.equal(modeOf("total 5"), undefined);
  assert.equal(modeOf(""), undefined);
});

Deno.test("renaming tells whether it was possible, and fails with the program's words", async () => {
  const good = programs({});
  assert.equal(await good.programs.rename("file:///a%20b", "file:///-c"), true);
  assert.deepEqual(good.ran, ["mv -f /a b /-c"]);
  const without = programs({ mv: missing });
  assert.equal(await without.programs.rename("file:///a", "file:///b"), false);
  assert.equal(await without.programs.rename("file:///a", "file:///b"), false);
  assert.equal(without.ran.length, 1, "a program that is not there is not asked for twice");
  const bad = programs({ mv: { code: 1, stderrText: "mv: cannot move\nmv: no\n" } });
  await assert.rejects(bad.programs.rename("file:///a", "file:///b"), {
    name: "CopyError",
    message: "cannot put /b in place: mv: no",
  });
  assert.equal(await good.programs.rename("file:///a", "file:///bad%FF"), false, "text cannot say the name");
});

Deno.test("a lost connection is no missing program", async () => {
  const { programs: far } = programs({ ls: new ClientError("disconnected", "gone") });
  await assert.rejects(far.mode("file:///a"), { name: "ClientError", kind: "disconnected" });
});

Deno.test("nothing is run on a system whose programs are others", async () => {
  const { ran, programs: far } = programs({}, "windows");
  assert.equal(await far.canArchive(), false);
  assert.equal(await far.mode("file:///C:/a"), undefined);
  assert.equal(await far.setMode("file:///C:/a", 0o600), false);
  assert.deepEqual(ran, []);
});

Deno.test("a failure without words is told by its code or signal", () => {
  const failed = (more: Partial<CollectedOutput>) =>
    complaint({ code: 3, signal: null, stderrText: "", ...more } as CollectedOutput);
  assert.deepEqual([failed({}), failed({ signal: "SIGKILL" }), failed({ stderrText: "a\nb\n" })], [
    "exit code 3",
    "ended by SIGKILL",
    "b",
  ]);
});
