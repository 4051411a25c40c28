import assert from "node:assert/strict";
import { memoryPair } from "../../lib/rpc/memory.ts";
import { Crowd } from "../../lib/server/crowd.ts";
import { ManualClock } from "../support/manual_clock.ts";

const [a, b] = memoryPair();

Deno.test("Crowd lets a connection alone fill its buffer, whatever it asks itself", () => {
  const clock = new ManualClock();
  const crowd = new Crowd(clock);
  assert.equal(crowd.isShared(a), false);
  crowd.asked(a);
  crowd.asked(a);
  assert.equal(crowd.isShared(a), false);
});

Deno.test("Crowd makes a connection leave room while another asks, also when both do, and for a while after", () => {
  const clock = new ManualClock();
  const crowd = new Crowd(clock);
  crowd.asked(a);
  crowd.asked(b);
  assert.equal(crowd.isShared(a), true);
  assert.equal(crowd.isShared(b), true);
  clock.advance(400);
  crowd.asked(a);
  assert.equal(crowd.isShared(a), true);
  clock.advance(100);
  assert.equal(crowd.isShared(a), false);
  assert.equal(crowd.isShared(b), true);
  clock.advance(400);
  assert.equal(crowd.isShared(b), false);
});
