import assert from "node:assert/strict";
import { pause } from "../../lib/relay/pause.ts";
import { ManualClock } from "../support/manual_clock.ts";

/** A signal that knows how many listen to it. */
function counted(): { signal: AbortSignal; abort(reason: Error): void; listeners(): number } {
  const aborter = new AbortController();
  const { signal } = aborter;
  let count = 0;
  const [add, remove] = [signal.addEventListener.bind(signal), signal.removeEventListener.bind(signal)];
  signal.addEventListener = (...args: Parameters<typeof add>) => {
    count++;
    add(...args);
  };
  signal.removeEventListener = (...args: Parameters<typeof remove>) => {
    count--;
    remove(...args);
  };
  return { signal, abort: (reason) => aborter.abort(reason), listeners: () => count };
}

Deno.test("pause ends when its time is over, and then nothing of it hangs on the signal, which lives for months", async () => {
  const clock = new ManualClock();
  const { signal, listeners } = counted();
  for (let round = 1; round <= 3; round++) {
    let over = false;
    const paused = pause(clock, 500, signal).then(() => over = true);
    clock.advance(499);
    await Promise.resolve();
    assert.deepEqual([over, listeners()], [false, 1]);
    clock.advance(1);
    await paused;
    assert.deepEqual([listeners(), clock.pendingTimers], [0, 0]);
  }
});

Deno.test("pause ends with the signal, and leaves no timer", async () => {
  const clock = new ManualClock();
  const { signal, abort } = counted();
  const paused = pause(clock, 500, signal);
  abort(new Error("stop"));
  await assert.rejects(paused, { message: "stop" });
  assert.equal(clock.pendingTimers, 0);
});

Deno.test("pause does not begin when the signal has been aborted", async () => {
  const clock = new ManualClock();
  await assert.rejects(pause(clock, 500, AbortSignal.abort(new Error("stop"))), { message: "stop" });
  assert.equal(clock.pendingTimers, 0);
});
