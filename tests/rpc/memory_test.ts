import assert from "node:assert/strict";
import { HIGH_WATER_BYTES, SHARED_HIGH_WATER_BYTES } from "../../lib/rpc/connection.ts";
import { memoryPair } from "../../lib/rpc/memory.ts";
import { Recorder } from "../support/recorder.ts";

Deno.test("memoryPair delivers in order, also what was sent before the other end started", async () => {
  const [near, far] = memoryPair();
  near.send("a");
  const received = new Recorder(far);
  near.send("b");
  assert.deepEqual(await received.received(2), ["a", "b"]);
});

Deno.test("memoryPair delivers nothing in the turn in which it was sent", () => {
  const [near, far] = memoryPair();
  const received = new Recorder(far);
  near.send("a");
  assert.deepEqual(received.messages, []);
});

Deno.test("memoryPair ends both ends once, after what was sent before", async () => {
  const [near, far] = memoryPair();
  const [nearRecord, farRecord] = [new Recorder(near), new Recorder(far)];
  near.send("last");
  near.close(1000, "done");
  near.close();
  near.send("too late");
  far.send("nobody is there");
  assert.equal(await nearRecord.end(), "done");
  assert.equal(await farRecord.end(), "closed by the peer");
  assert.deepEqual(farRecord.messages, ["last"]);
  assert.deepEqual(nearRecord.messages, []);
  far.close();
  assert.deepEqual([nearRecord.ends.length, farRecord.ends.length], [1, 1]);
});

Deno.test("memoryPair tells an end to one who starts after it", async () => {
  const [near, far] = memoryPair();
  near.close(1000, "done");
  assert.equal(await new Recorder(near).end(), "done");
  assert.equal(await new Recorder(far).end(), "closed by the peer");
});

Deno.test("memoryPair is congested while the receiver takes its time, and drains afterwards", async () => {
  const [near, far] = memoryPair();
  const gate = Promise.withResolvers<void>();
  const received = new Recorder(far);
  received.onMessage = () => gate.promise;
  near.send("first");
  await received.received(1);
  near.send("x".repeat(HIGH_WATER_BYTES));
  assert.equal(near.congested, false);
  near.send("x");
  assert.equal(near.congested, true);
  const drained = near.drained();
  gate.resolve();
  await drained;
  assert.equal(near.congested, false);
});

Deno.test("memoryPair is congested earlier while it shares", () => {
  const [near, far] = memoryPair();
  far.start({ message: () => new Promise(() => {}), ended: () => {} });
  near.send("x".repeat(SHARED_HIGH_WATER_BYTES + 1));
  assert.equal(near.congested, false);
  near.sharing = true;
  assert.equal(near.congested, true);
  near.close();
});
