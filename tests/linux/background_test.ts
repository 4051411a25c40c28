import assert from "node:assert/strict";
import { inBackground } from "../../lib/linux/background.ts";

Deno.test("24 calls run at once, the others after them in the order in which they came", async () => {
  const begun: number[] = [];
  const work = Array.from({ length: 30 }, () => Promise.withResolvers<number>());
  const results = work.map(({ promise }, index) =>
    inBackground(() => {
      begun.push(index);
      return promise;
    })
  );
  const first = Array.from({ length: 24 }, (_, index) => index);
  assert.deepEqual(begun, first);
  work[5]!.reject(new Error("failed"));
  await assert.rejects(results[5]!, /failed/);
  assert.deepEqual(begun, [...first, 24]);
  work[7]!.resolve(7);
  work[24]!.resolve(24);
  assert.deepEqual(await Promise.all([results[7], results[24]]), [7, 24]);
  assert.deepEqual(begun, [...first, 24, 25, 26]);
  const late = inBackground(() => (begun.push(30), Promise.resolve(30)));
  for (const [index, { resolve }] of work.entries()) resolve(index);
  assert.equal(await late, 30);
  assert.deepEqual(begun, [...first, 24, 25, 26, 27, 28, 29, 30]);
  await Promise.allSettled(results);
  assert.equal(await inBackground(() => Promise.resolve(31)), 31, "all places are free again");
});
