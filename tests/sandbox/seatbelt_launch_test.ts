import assert from "node:assert/strict";
import { fromText } from "../../lib/sandbox/byte_path.ts";
import type { ConfinedProgram } from "../../lib/sandbox/sandbox.ts";
import { policyObstacle, seatbeltLaunch } from "../../lib/sandbox/seatbelt_launch.ts";
import type { SeatbeltPolicy } from "../../lib/sandbox/seatbelt_policy.ts";

const policy: SeatbeltPolicy = { text: "(version 1)", parameters: new Map([["P0", "/a=b c"], ["P1", "^/x"]]) };
const POLICY_WORDS = ["/usr/bin/sandbox-exec", "-p", "(version 1)", "-DP0=/a=b c", "-DP1=^/x", "--"];

function program(words: readonly string[], env: readonly string[] = []): ConfinedProgram {
  return { file: words[0]!, argv: words, env, cwd: "/" };
}

Deno.test("a program runs under sandbox-exec, with the policy and its parameters before it", () => {
  using launch = seatbeltLaunch(policy, program(["-p", "-DP0=/"], ["PATH=/bin", "A=1"]), "/work");
  assert.equal(launch.path, "/usr/bin/sandbox-exec");
  assert.deepEqual(launch.argv, [...POLICY_WORDS, "-p", "-DP0=/"]);
  assert.deepEqual(launch.env, ["PATH=/bin", "A=1"]);
  assert.equal(launch.directory, "/work");
  assert.deepEqual(launch.descriptors, []);
});

Deno.test("variables that would act upon sandbox-exec itself reach the program alone", () => {
  const env = ["PATH=/bin", "DYLD_INSERT_LIBRARIES=/evil.dylib", "MallocLogFile=/etc/x", "KEY=secret"];
  using launch = seatbeltLaunch(policy, program(["sh", "-c", "x"], env), "/");
  assert.deepEqual(launch.env, ["PATH=/bin", "KEY=secret"]);
  const late = ["/usr/bin/env", "DYLD_INSERT_LIBRARIES=/evil.dylib", "MallocLogFile=/etc/x"];
  assert.deepEqual(launch.argv, [...POLICY_WORDS, ...late, "sh", "-c", "x"]);
  const ambiguous = program(["a=b"], env);
  assert.throws(() => seatbeltLaunch(policy, ambiguous, "/"), { kind: "sandboxUnavailable" });
});

Deno.test("a program that is to have another argv[0] is refused", () => {
  const renamed = { ...program(["other", "x"]), file: "/bin/sh" };
  assert.throws(() => seatbeltLaunch(policy, renamed, "/"), {
    kind: "sandboxUnavailable",
    message: "sandbox unavailable: on macOS a program in a sandbox has its own name as argv[0]",
  });
});

Deno.test("a policy is refused that is too long for a command line, or names what no file is called", () => {
  const withPath = (path: string): SeatbeltPolicy => ({ text: "", parameters: new Map([["P0", path]]) });
  assert.equal(policyObstacle(policy), undefined);
  assert.equal(policyObstacle(withPath(fromText("/\u00fc"))), undefined);
  assert.equal(policyObstacle(withPath("/\xfc")), "a path is no UTF-8, and no file here has such a name");
  assert.match(policyObstacle(withPath(`/${"x".repeat(520 * 1024)}`))!, /^there are more paths to watch than fit/);
});
