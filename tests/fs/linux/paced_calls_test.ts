import assert from "node:assert/strict";
import { PacedCalls } from "../../../lib/fs/linux/paced_calls.ts";
import { inSlices, type Steps } from "../../../lib/fs/steps.ts";
import { never } from "../scratch.ts";
import { wholeSlice } from "./trees.ts";

const ignore = Deno.build.os !== "linux";

function spin(ms: number): void {
  const until = performance.now() + ms;
  while (performance.now() < until);
}

Deno.test("calls that are slow are made elsewhere for a while, and then tried here again", { ignore }, async () => {
  const made: string[] = [];
  const paced = new PacedCalls();
  const calls = function* (count: number, ms: number): Steps<void> {
    for (let call = 0; call < count; call++) {
      const result = yield* paced.make(
        () => (spin(ms), made.push("here")),
        () => Promise.resolve(made.push("there")),
      );
      assert.equal(result, made.length);
    }
  };
  await inSlices(calls(66, 2), wholeSlice(), never);
  assert.deepEqual(made, ["here", ...new Array(64).fill("there"), "here"]);
});

Deno.test(
  "calls that are quick are made here, and a slow one among them is forgotten in time",
  { ignore },
  async () => {
    const made: string[] = [];
    const paced = new PacedCalls();
    const calls = function* (): Steps<void> {
      for (const ms of [0, 0, 3, ...new Array(1000).fill(0)]) {
        yield* paced.make(() => (spin(ms), made.push("here")), () => Promise.resolve(made.push("there")));
      }
    };
    await inSlices(calls(), wholeSlice(), never);
    assert.deepEqual(made.slice(0, 4), ["here", "here", "here", "there"]);
    assert.deepEqual(made.slice(-100), new Array(100).fill("here"));
  },
);
