import assert from "node:assert/strict";
import { LaneQueue } from "../../lib/rpc/lane_queue.ts";

/** Runs what the promises that have settled lead to. */
function settle(): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, 0));
}

Deno.test("as many run as may, the others begin in the order in which they came", async () => {
  const lane = new LaneQueue(2, () => 0);
  const begun: number[] = [];
  const works = Array.from({ length: 5 }, () => Promise.withResolvers<void>());
  for (const [number, work] of works.entries()) {
    const begin = () => (begun.push(number), work.promise);
    if (lane.full) lane.wait(number === 4 ? "last" : "other", begin);
    else lane.run(begin());
  }
  assert.deepEqual(begun, [0, 1]);
  works[1]!.resolve();
  await settle();
  assert.deepEqual(begun, [0, 1, 2]);
  assert.ok(lane.holds((method) => method === "last"));
  for (const work of works) work.resolve();
  await settle();
  assert.deepEqual(begun, [0, 1, 2, 3, 4]);
  assert.ok(!lane.holds(() => true));
  assert.ok(!lane.full);
});

Deno.test("those that are answered at once leave others their turn, and nothing overtakes them meanwhile", async () => {
  let nowMs = 0;
  const lane = new LaneQueue(1, () => nowMs);
  const first = Promise.withResolvers<void>();
  lane.run(first.promise);
  const begun: number[] = [];
  for (let number = 0; number < 3000; number++) {
    lane.wait("quick", () => {
      begun.push(number);
      nowMs += 1;
      return undefined;
    });
  }
  first.resolve();
  await first.promise;
  await undefined;
  assert.deepEqual(begun, [0, 1, 2, 3, 4, 5]);
  assert.ok(lane.full);
  while (lane.full) await settle();
  assert.deepEqual(begun, Array.from({ length: 3000 }, (_, number) => number));
});

Deno.test("nothing is put off when nothing waits any more", async () => {
  let nowMs = 0;
  const lane = new LaneQueue(1, () => nowMs);
  lane.run(Promise.resolve());
  lane.wait("slow", () => {
    nowMs += 1000;
    return undefined;
  });
  await undefined;
  await undefined;
  // A timer would be a leak of this test.
  assert.ok(!lane.full);
});
