import assert from "node:assert/strict";
import { elsewhere, inSlices, type Steps } from "../../lib/fs/steps.ts";
import { never } from "./scratch.ts";
import { thinSlices, wholeSlice } from "./linux/trees.ts";

const ignore = Deno.build.os !== "linux";

function* counting(until: number, said: string[]): Steps<number> {
  try {
    for (let count = 1; count <= until; count++) {
      said.push(`step ${count}`);
      yield;
    }
    return until;
  } finally {
    said.push("left");
  }
}

Deno.test("work that fits into its slice is done at once", { ignore }, () => {
  const said: string[] = [];
  assert.equal(inSlices(counting(3, said), wholeSlice(), never), 3);
  assert.deepEqual(said, ["step 1", "step 2", "step 3", "left"]);
});

Deno.test("longer work gives way between its steps", { ignore }, async () => {
  const { slice, count } = thinSlices();
  const result = inSlices(counting(5, []), slice, never);
  assert.ok(result instanceof Promise);
  assert.equal(await result, 5);
  assert.equal(count(), 5);
});

Deno.test("work whose caller has gone does no further step and lets go of what it holds", { ignore }, async () => {
  const said: string[] = [];
  const caller = new AbortController();
  const result = inSlices(counting(1000, said), thinSlices().slice, caller.signal);
  caller.abort(new Error("gone"));
  await assert.rejects(async () => await result, { message: "gone" });
  assert.deepEqual(said, ["step 1", "left"]);
  assert.throws(() => inSlices(counting(1, said), wholeSlice(), caller.signal), { message: "gone" });
  assert.equal(said.length, 2);
});

Deno.test("a caller who goes while another thread is at work is heard when that is done", { ignore }, async () => {
  const caller = new AbortController();
  const other = Promise.withResolvers<number>();
  let left = false;
  const work = function* (): Steps<number> {
    try {
      return yield* elsewhere(other.promise);
    } finally {
      left = true;
    }
  };
  const result = Promise.resolve(inSlices(work(), wholeSlice(), caller.signal));
  caller.abort(new Error("gone"));
  await Promise.resolve();
  assert.equal(left, false);
  other.resolve(1);
  await assert.rejects(result, { message: "gone" });
  assert.equal(left, true);
});

Deno.test("what another thread does comes back as its result or its failure", { ignore }, async () => {
  const work = function* (): Steps<string> {
    const value = yield* elsewhere(Promise.resolve(7));
    try {
      yield* elsewhere(Promise.reject(new Error("no")));
    } catch (error) {
      return `${value} ${(error as Error).message}`;
    }
    return "it worked";
  };
  assert.equal(await inSlices(work(), wholeSlice(), never), "7 no");
});
