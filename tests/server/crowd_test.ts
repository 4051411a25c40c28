import assert from "node:assert/strict";
import { HIGH_WATER_BYTES } from "../../lib/rpc/connection.ts";
import { memoryPair } from "../../lib/rpc/memory.ts";
import { Crowd, SHARED_HIGH_WATER_BYTES } from "../../lib/server/crowd.ts";
import { ManualClock } from "../support/manual_clock.ts";

const [a, b] = memoryPair();

Deno.test("Crowd lets a connection alone fill its buffer, whatever it asks itself", () => {
  const clock = new ManualClock();
  const crowd = new Crowd(clock);
  assert.equal(crowd.highWaterBytes(a), HIGH_WATER_BYTES);
  crowd.asked(a);
  crowd.asked(a);
  assert.equal(crowd.highWaterBytes(a), HIGH_WATER_BYTES);
});

Deno.test("Crowd makes a connection leave room while another asks, also when both do, and for a while after", () => {
  const clock = new ManualClock();
  const crowd = new Crowd(clock);
  crowd.asked(a);
  crowd.asked(b);
  assert.equal(crowd.highWaterBytes(a), SHARED_HIGH_WATER_BYTES);
  assert.equal(crowd.highWaterBytes(b), SHARED_HIGH_WATER_BYTES);
  clock.advance(400);
  crowd.asked(a);
  assert.equal(crowd.highWaterBytes(a), SHARED_HIGH_WATER_BYTES);
  clock.advance(100);
  assert.equal(crowd.highWaterBytes(a), HIGH_WATER_BYTES);
  assert.equal(crowd.highWaterBytes(b), SHARED_HIGH_WATER_BYTES);
  clock.advance(400);
  assert.equal(crowd.highWaterBytes(b), HIGH_WATER_BYTES);
});
