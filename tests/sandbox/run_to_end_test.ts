import assert from "node:assert/strict";
import { OwnedLaunch } from "../../lib/sandbox/prepared_launch.ts";
import { runFile, runToEnd } from "../../lib/sandbox/run_to_end.ts";
import { never } from "./support/own_sandbox.ts";

const ignore = Deno.build.os !== "linux";

function shell(script: string, letGo: (wasStarted: boolean) => void, path = "/bin/sh"): OwnedLaunch {
  const parts = { path, argv: ["sh", "-c", script], env: ["A=\xff"], descriptors: [] };
  return new OwnedLaunch({ ...parts, letGo: (wasStarted) => Promise.resolve(letGo(wasStarted)) });
}

Deno.test({
  name: "runToEnd gives what a program said and how it ended",
  ignore,
  fn: async () => {
    const ends: boolean[] = [];
    const run = (script: string) => runToEnd(shell(script, (wasStarted) => ends.push(wasStarted)), never);
    assert.deepEqual(await run("cat; echo out; echo err >&2; exit 7"), {
      exitCode: 7,
      stdout: "out\n",
      stderr: "err\n",
    });
    assert.equal((await run("kill -9 $$")).exitCode, 137);
    assert.equal((await run('[ "$A" = "$(printf "\\377")" ]')).exitCode, 0);
    assert.deepEqual(ends, [true, true, true]);
    assert.deepEqual(await runFile("/bin/echo", ["a", "b"], never), { exitCode: 0, stdout: "a b\n", stderr: "" });
  },
});

Deno.test({
  name: "runToEnd says why nothing was started, and lets go",
  ignore,
  fn: async () => {
    const ends: boolean[] = [];
    const launch = shell("", (wasStarted) => ends.push(wasStarted), "/no/such");
    await assert.rejects(runToEnd(launch, never), /^ExecError: it cannot be started: No such file or directory$/);
    assert.deepEqual(ends, [false]);
  },
});

Deno.test({
  name: "runToEnd kills what nobody waits for any more",
  ignore,
  fn: async () => {
    const aborting = new AbortController();
    const ends: boolean[] = [];
    const running = runToEnd(shell("exec sleep 600", (wasStarted) => ends.push(wasStarted)), aborting.signal);
    aborting.abort(new Error("enough"));
    await assert.rejects(running, /^Error: enough$/);
    assert.deepEqual(ends, [true]);
  },
});
