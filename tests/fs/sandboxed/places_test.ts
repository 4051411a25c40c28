import assert from "node:assert/strict";
import { Places } from "../../../lib/fs/sandboxed/places.ts";

const never = new AbortController().signal;

Deno.test("so many at a time, the others after them in their order, and those who have gone are passed over", async () => {
  const places = new Places(2);
  const doors = Array.from({ length: 6 }, () => Promise.withResolvers<void>());
  const begun: number[] = [];
  const aborting = new AbortController();
  const all = doors.map(({ promise }, at) =>
    places.during(at === 3 ? aborting.signal : never, () => (begun.push(at), promise))
  );
  await Promise.resolve();
  assert.deepEqual(begun, [0, 1]);
  aborting.abort(new Error("gone"));
  await assert.rejects(all[3]!, /gone/);
  doors[1]!.reject(new Error("failed"));
  await assert.rejects(all[1]!, /failed/);
  doors[2]!.resolve();
  await all[2];
  doors[0]!.resolve();
  await all[0];
  assert.deepEqual(begun, [0, 1, 2, 4, 5]);
  for (const at of [4, 5]) doors[at]!.resolve();
  await Promise.all([all[4], all[5]]);
  assert.equal(await places.during(never, () => Promise.resolve("free")), "free");
  await assert.rejects(places.during(aborting.signal, () => Promise.resolve()), /gone/);
});
