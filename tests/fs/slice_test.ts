import assert from "node:assert/strict";
import { Slice } from "../../lib/fs/slice.ts";
import { never } from "./scratch.ts";

Deno.test("Slice lets work go on within its budget and gives way after it", async () => {
  let budget = Infinity, breaks = 0;
  const slice = new Slice(() => budget, () => Promise.resolve(void breaks++));
  assert.equal(slice.pause(never), undefined);
  budget = 0;
  await slice.pause(never);
  await slice.pause(never);
  assert.equal(breaks, 2);
  budget = Infinity;
  assert.equal(slice.pause(never), undefined, "the budget is asked for each time");
});

Deno.test("Slice ends work that nobody wants any more after a break", async () => {
  const aborter = new AbortController();
  const reason = new Error("ended");
  const slice = new Slice(() => 0, () => Promise.resolve(aborter.abort(reason)));
  await assert.rejects(async () => await slice.pause(aborter.signal), reason);
});
