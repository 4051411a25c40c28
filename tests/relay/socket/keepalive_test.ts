import assert from "node:assert/strict";
import { Keepalive } from "../../../lib/relay/socket/keepalive.ts";
import { ManualClock } from "../../support/manual_clock.ts";

/** What a keepalive did, and when. */
function recorded() {
  const clock = new ManualClock();
  const seen: string[] = [];
  const keepalive = new Keepalive(clock, {
    ping: () => seen.push(`${clock.now() / 1000} ping`),
    dead: (reason) => seen.push(`${clock.now() / 1000} ${reason}`),
  });
  return { clock, seen, keepalive };
}

Deno.test("Keepalive pings every 30 s as long as it is answered", () => {
  const { clock, seen, keepalive } = recorded();
  keepalive.start();
  clock.advance(29_999);
  assert.deepEqual(seen, []);
  for (let round = 0; round < 3; round++) {
    clock.advance(30_000);
    keepalive.pong();
  }
  assert.deepEqual(seen, ["30 ping", "60 ping", "90 ping"]);
  keepalive.end();
  assert.equal(clock.pendingTimers, 0);
});

Deno.test("Keepalive sends no second ping behind an unanswered one, and gives up 60 s after it", () => {
  const { clock, seen, keepalive } = recorded();
  keepalive.start();
  clock.advance(1_000_000);
  assert.deepEqual(seen, ["30 ping", "90 pong_timeout"]);
  assert.equal(clock.pendingTimers, 0);
});

Deno.test("Keepalive takes a late answer, and pings again at the next turn", () => {
  const { clock, seen, keepalive } = recorded();
  keepalive.start();
  clock.advance(30_000 + 59_999);
  keepalive.pong();
  clock.advance(60_000);
  assert.deepEqual(seen, ["30 ping", "90 ping"]);
  keepalive.end();
});

Deno.test("Keepalive gives up when a write has made no progress for 60 s", () => {
  const { clock, seen, keepalive } = recorded();
  keepalive.start();
  clock.advance(10_000);
  keepalive.writing();
  clock.advance(20_000);
  keepalive.pong();
  clock.advance(30_000);
  keepalive.pong();
  clock.advance(1_000_000);
  assert.deepEqual(seen, ["30 ping", "60 ping", "70 write_timeout"]);
  assert.equal(clock.pendingTimers, 0);
});

Deno.test("Keepalive waits for a slow write that makes progress, and for none when all is written", () => {
  const { clock, seen, keepalive } = recorded();
  keepalive.writing();
  for (let round = 0; round < 5; round++) {
    clock.advance(59_999);
    keepalive.writing();
    keepalive.written(true);
  }
  clock.advance(59_999);
  keepalive.written(false);
  clock.advance(1_000_000);
  assert.deepEqual(seen, []);
  assert.equal(clock.pendingTimers, 0);
  keepalive.writing();
  clock.advance(60_000);
  assert.deepEqual(seen, [`${clock.now() / 1000} write_timeout`]);
});

Deno.test("Keepalive asks for no answer while nobody listens", () => {
  const { clock, seen, keepalive } = recorded();
  keepalive.start();
  clock.advance(30_000);
  keepalive.listening(false);
  clock.advance(200_000);
  keepalive.listening(true);
  assert.deepEqual(seen, ["30 ping"]);
  clock.advance(10_000);
  assert.deepEqual(seen, ["30 ping", "240 ping"]);
  keepalive.end();
});

Deno.test("Keepalive does nothing once it has ended", () => {
  const { clock, seen, keepalive } = recorded();
  keepalive.end();
  keepalive.start();
  keepalive.writing();
  clock.advance(1_000_000);
  assert.deepEqual(seen, []);
});
