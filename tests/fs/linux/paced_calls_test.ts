import assert from "node:assert/strict";
import { PacedCalls } from "../../../lib/fs/linux/paced_calls.ts";
import { inSlices, type Steps } from "../../../lib/fs/linux/steps.ts";
import { never } from "../scratch.ts";
import { wholeSlice } from "./trees.ts";

const ignore = Deno.build.os !== "linux";

function spin(ms: number): void {
  const until = performance.now() + ms;
  while (performance.now() < until);
}

Deno.test("a call that was slow is made elsewhere for a while, and then tried here again", { ignore }, async () => {
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
