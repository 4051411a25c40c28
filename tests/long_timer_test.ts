import assert from "node:assert/strict";
import fc from "fast-check";
import { afterLong } from "../lib/long_timer.ts";
import { ManualClock } from "./support/manual_clock.ts";

const YEAR_MS = 366 * 86_400_000;

Deno.test("afterLong waits for exactly as long as it was asked, beyond the longest timer of the platform", () => {
  fc.assert(fc.property(fc.integer({ min: 0, max: 10 * YEAR_MS }), (ms) => {
    const clock = new ManualClock();
    const acts: number[] = [];
    afterLong(clock, ms, () => acts.push(clock.now()));
    if (ms > 0) clock.advance(ms - 1);
    assert.deepEqual(acts, []);
    clock.advance(1);
    assert.deepEqual(acts, [ms]);
    assert.equal(clock.pendingTimers, 0);
  }));
});

Deno.test("a long timer can be cancelled at any time, and then leaves nothing", () => {
  for (const elapsed of [0, 1, YEAR_MS / 2, YEAR_MS]) {
    const clock = new ManualClock();
    let acts = 0;
    const timer = afterLong(clock, YEAR_MS, () => acts++);
    clock.advance(elapsed);
    timer.cancel();
    timer.cancel();
    assert.equal(clock.pendingTimers, 0);
    clock.advance(2 * YEAR_MS);
    assert.equal(acts, elapsed === YEAR_MS ? 1 : 0);
  }
});
