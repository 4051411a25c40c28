import assert from "node:assert/strict";
import type { Outcome } from "./codex_run.ts";
import { judge, type Runs } from "./verdict.ts";

const GOOD: Outcome = { introduction: "", tools: ["exec_command"], answers: [], files: {} };
const OTHER: Outcome = { ...GOOD, tools: [] };

function runs(more: Partial<Runs>): Runs {
  return {
    theirs: () => Promise.resolve(GOOD),
    ours: () => Promise.resolve(GOOD),
    check: ({ tools }) => assert.equal(tools.length, 1, "a tool is missing"),
    isOtherVersion: false,
    ...more,
  };
}

const fails = () => Promise.reject(new Error("codex exec ended with 1"));

Deno.test("what comes of a scenario with both servers, and is what must come of it, passes", async () => {
  for (const isOtherVersion of [false, true]) {
    assert.deepEqual(await judge(runs({ isOtherVersion })), { verdict: "passed", reason: "" });
  }
});

Deno.test("what comes out differently with our server fails with every version", async () => {
  for (const isOtherVersion of [false, true]) {
    for (const ours of [fails, () => Promise.resolve(OTHER)]) {
      const { verdict, reason } = await judge(runs({ isOtherVersion, ours }));
      assert.equal(verdict, "failed");
      assert.match(reason, /^through our server: /);
    }
    const swapped = await judge(runs({ isOtherVersion, theirs: () => Promise.resolve(OTHER) }));
    assert.equal(swapped.verdict, "failed");
  }
});

Deno.test("what does not work with the reference fails, and is skipped with another version of it", async () => {
  const reason = "through the reference: codex exec ended with 1";
  assert.deepEqual(await judge(runs({ theirs: fails })), { verdict: "failed", reason });
  assert.deepEqual(await judge(runs({ theirs: fails, isOtherVersion: true })), { verdict: "skipped", reason });
});

Deno.test("what works in another way with both fails, and is skipped with another version", async () => {
  const others = { theirs: () => Promise.resolve(OTHER), ours: () => Promise.resolve(OTHER) };
  assert.equal((await judge(runs(others))).verdict, "failed");
  const { verdict, reason } = await judge(runs({ ...others, isOtherVersion: true }));
  assert.equal(verdict, "skipped");
  assert.match(reason, /^the same through both, but not as it has to be: a tool is missing/);
});
