import assert from "node:assert/strict";
import { expandInSlices } from "../../lib/sandbox/expand_in_slices.ts";
import { expandPolicy } from "../../lib/sandbox/expand_policy.ts";
import type { SandboxPolicy } from "../../lib/sandbox/policy.ts";
import { FakeTree } from "./fake_tree.ts";
import { never, READ_ALL, restricted } from "./support/own_sandbox.ts";

const tree = new FakeTree({
  d: Object.fromEntries(Array.from({ length: 20_000 }, (_, at) => [`file-${at}`, ""])),
});
const quick: SandboxPolicy = { fileSystem: restricted([READ_ALL]), network: "restricted" };
const long: SandboxPolicy = {
  fileSystem: restricted([
    READ_ALL,
    ...["/d/*1{0,1,2,3,4}.x", "/d/*2?3"].map((pattern) => ({
      path: { kind: "glob" as const, pattern },
      access: "deny" as const,
    })),
  ]),
  network: "restricted",
};

Deno.test("expandInSlices answers at once where it is quick", () => {
  assert.deepEqual(expandInSlices(quick, tree, never), expandPolicy(quick, tree));
});

Deno.test("expandInSlices lets others work where it is long, comes to the same, and can be cancelled", async () => {
  const expected = expandPolicy(long, tree);
  assert.ok(expected.rules.length > 1);
  const plan = expandInSlices(long, tree, never);
  assert.ok(plan instanceof Promise);
  assert.deepEqual(await plan, expected);
  const cancelled = expandInSlices(long, tree, AbortSignal.abort(new Error("cancelled")));
  await assert.rejects(Promise.resolve(cancelled), /^Error: cancelled$/);
});
