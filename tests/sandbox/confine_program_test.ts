import assert from "node:assert/strict";
import { silentLog } from "../../lib/log.ts";
import { confineProgram } from "../../lib/sandbox/confine_program.ts";
import { LazySandbox } from "../../lib/sandbox/lazy_sandbox.ts";
import type { AccessPlan, SandboxPolicy } from "../../lib/sandbox/policy.ts";
import { EMPTY_PLAN, FakeSandbox } from "../support/fake_sandbox.ts";

const policy: SandboxPolicy = { fileSystem: "unrestricted", network: "restricted" };
const never = new AbortController().signal;

function stage(plan: Partial<AccessPlan>): { sandbox: FakeSandbox; lazy: LazySandbox } {
  const sandbox = new FakeSandbox();
  sandbox.plan = () => ({ ...EMPTY_PLAN, ...plan });
  return {
    sandbox,
    lazy: new LazySandbox({ choice: "auto", secretPaths: [], log: silentLog }, () => Promise.resolve(sandbox)),
  };
}

Deno.test("a program gets what holds the plan of its policy", async () => {
  const { sandbox, lazy } = stage({});
  assert.notEqual(await confineProgram(lazy, { policy, useLegacyLandlock: false }, never), null);
  assert.deepEqual(sandbox.calls, ["enforcement"]);
});

Deno.test("the oldest way is refused where files are restricted, and means nothing elsewhere", async () => {
  const restricted = stage({ fullWrite: false });
  await assert.rejects(confineProgram(restricted.lazy, { policy, useLegacyLandlock: true }, never), {
    kind: "sandboxUnavailable",
    message: /useLegacyLandlock/,
  });
  assert.deepEqual(restricted.sandbox.calls, []);
  const networkOnly = stage({ fullWrite: true });
  await confineProgram(networkOnly.lazy, { policy, useLegacyLandlock: true }, never);
  assert.deepEqual(networkOnly.sandbox.calls, ["enforcement"]);
});
