import assert from "node:assert/strict";
import { type Backoff, reconnectBackoff, retryBackoff } from "../../lib/relay/backoff.ts";

function times(count: number, backoff: Backoff): number[] {
  return Array.from({ length: count }, () => backoff.next());
}

Deno.test("a reconnection waits 1, 2, 4, 8, 16, 30, 30 s at most, and half of that at least", () => {
  assert.deepEqual(times(8, reconnectBackoff(() => 0)), [500, 1000, 2000, 4000, 8000, 15_000, 15_000, 15_000]);
  const almostOne = 1 - 2 ** -53;
  assert.deepEqual(
    times(8, reconnectBackoff(() => almostOne)),
    [1000, 2000, 4000, 8000, 16_000, 30_000, 30_000, 30_000],
  );
});

Deno.test("a repeated registration waits 500, 1000, 2000, 4000, 5000, 5000 ms at least, and up to half of that more", () => {
  assert.deepEqual(times(6, retryBackoff(() => 0)), [500, 1000, 2000, 4000, 5000, 5000]);
  assert.deepEqual(times(6, retryBackoff(() => 0.5)), [625, 1250, 2500, 5000, 6250, 6250]);
  assert.deepEqual(times(6, retryBackoff(() => 1 - 2 ** -53)), [750, 1500, 3000, 6000, 7500, 7500]);
});

Deno.test("each waiting time has a random number of its own", () => {
  const random = [0, 0.5, 0.25].values();
  assert.deepEqual(times(3, reconnectBackoff(() => random.next().value!)), [500, 1500, 2500]);
});

Deno.test("after a reset the waiting times begin anew", () => {
  const backoff = reconnectBackoff(() => 0);
  times(7, backoff);
  backoff.reset();
  assert.deepEqual(times(2, backoff), [500, 1000]);
});
