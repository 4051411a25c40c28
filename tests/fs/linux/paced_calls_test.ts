import assert from "node:assert/strict";
import { PacedCalls } from "../../../lib/fs/linux/paced_calls.ts";
import { inSlices, type Steps } from "../../../lib/fs/steps.ts";
import { never } from "../scratch.ts";
import { wholeSlice } from "./trees.ts";

const ignore = Deno.build.os !== "linux";

/** Calls that take as long as the test says. */
class Timed {
  #nowMs = 0;
  readonly paced = new PacedCalls(() => this.#nowMs);
  readonly made: string[] = [];

  *make(ms: number): Steps<number> {
    return yield* this.paced.make(
      () => (this.#nowMs += ms, this.made.push("here")),
      () => Promise.resolve(this.made.push("there")),
    );
  }
}

Deno.test("calls that are slow are made elsewhere for a while, and then tried here again", { ignore }, async () => {
  const timed = new Timed();
  const calls = function* (count: number, ms: number): Steps<void> {
    for (let call = 1; call <= count; call++) assert.equal(yield* timed.make(ms), call);
  };
  await inSlices(calls(66, 2), wholeSlice(), never);
  assert.deepEqual(timed.made, ["here", ...new Array(64).fill("there"), "here"]);
});

Deno.test(
  "calls that are quick are made here, and a slow one among them is forgotten in time",
  { ignore },
  async () => {
    const timed = new Timed();
    const { made } = timed;
    const calls = function* (): Steps<void> {
      for (const ms of [0, 0, 3, ...new Array(1000).fill(0)]) yield* timed.make(ms);
    };
    await inSlices(calls(), wholeSlice(), never);
    assert.deepEqual(made.slice(0, 4), ["here", "here", "here", "there"]);
    assert.deepEqual(made.slice(-100), new Array(100).fill("here"));
  },
);
