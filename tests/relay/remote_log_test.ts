import assert from "node:assert/strict";
import { createLog } from "../../lib/log.ts";
import type { Observer } from "../../lib/observer.ts";
import type { RemoteEvents } from "../../lib/relay/events.ts";
import { remoteLog } from "../../lib/relay/remote_log.ts";
import { ManualClock } from "../support/manual_clock.ts";

/** The events of a log whose lines, without the time in front, can be looked at. */
function recorded(observer?: Observer): { events: RemoteEvents; lines: string[]; clock: ManualClock } {
  const lines: string[] = [];
  const clock = new ManualClock();
  const log = createLog("debug", (line) => lines.push(line.slice(line.indexOf(" ") + 1).trimEnd()));
  return { events: remoteLog(log, observer, clock), lines, clock };
}

Deno.test("lines name the other end of the WebSocket", () => {
  const lines: string[] = [];
  const log = createLog("info", (line) => lines.push(line.replace(/^\S+ /, "").trim()));
  const events = remoteLog(log, {}, undefined, "the service");
  events.connected?.();
  events.lost?.({ reason: "connection lost", lastedMs: 1 });
  assert.deepEqual(lines, [
    "INFO connected to the service",
    'WARN lost the service reason="connection lost" lastedMs=1',
  ]);
});

Deno.test("an operator sees a line each for registered, connected, lost, retrying, paused and refused", () => {
  const { events, lines } = recorded();
  events.registration?.({ outcome: "success", durationMs: 12.3 });
  events.registered?.({ environmentId: "env 1" });
  events.rendezvousConnect?.({ outcome: "success", durationMs: 12.3 });
  events.connected?.();
  events.handshakeRefused?.({ reason: "not authorized" });
  events.paused?.({ forMs: 10_000 });
  events.lost?.({ reason: "pong_timeout", lastedMs: 61_000.4 });
  events.retrying?.({
    what: "rendezvous",
    afterMs: 731,
    reason: "upgrade refused",
    status: 403,
    rejection: "invalid_signature",
  });
  events.retrying?.({ what: "registration", afterMs: 500, reason: "registration_conflict" });
  assert.deepEqual(lines, [
    'INFO registered with the registry environment="env 1"',
    "INFO connected to the rendezvous",
    'WARN handshake refused reason="not authorized"',
    "WARN too many failed handshakes: all are refused for a while forMs=10000",
    "WARN lost the rendezvous reason=pong_timeout lastedMs=61000",
    'WARN retrying what=rendezvous afterMs=731 reason="upgrade refused" status=403 rejection=invalid_signature',
    "WARN retrying what=registration afterMs=500 reason=registration_conflict",
  ]);
});

Deno.test("handshakes that are refused during a pause have no line each, and are told of with the next one", () => {
  const { events, lines, clock } = recorded();
  events.paused?.({ forMs: 10_000 });
  for (let i = 0; i < 50_000; i++) events.handshakeRefused?.({ reason: "paused" });
  assert.equal(lines.length, 1);
  clock.advance(10_000);
  events.handshakeRefused?.({ reason: "validation failed" });
  assert.deepEqual(lines.slice(1), [
    "WARN more handshakes refused count=50000",
    'WARN handshake refused reason="validation failed"',
  ]);
});

Deno.test("refused handshakes have eight lines in ten seconds, however many there are and for whatever reasons", () => {
  const { events, lines, clock } = recorded();
  const flood = () => {
    for (let i = 0; i < 5_000; i++) {
      events.handshakeRefused?.({ reason: "stream active" });
      events.handshakeRefused?.({ reason: "too many validations" });
    }
  };
  flood();
  clock.advance(9_999);
  flood();
  assert.equal(lines.length, 8);
  clock.advance(1);
  events.handshakeRefused?.({ reason: "stream active" });
  events.lost?.({ reason: "connection lost", lastedMs: 1 });
  assert.deepEqual(lines.slice(8), [
    "WARN more handshakes refused count=19992",
    'WARN handshake refused reason="stream active"',
    'WARN lost the rendezvous reason="connection lost" lastedMs=1',
  ]);
});

Deno.test("what was refused without a line is told of before the rendezvous is said to be lost", () => {
  const { events, lines } = recorded();
  events.handshakeRefused?.({ reason: "paused" });
  events.lost?.({ reason: "connection lost", lastedMs: 1 });
  assert.deepEqual(lines, [
    "WARN more handshakes refused count=1",
    'WARN lost the rendezvous reason="connection lost" lastedMs=1',
  ]);
});

Deno.test("an observer hears the same, every refusal of it", () => {
  const heard: unknown[] = [];
  const { events } = recorded({
    remoteRegistration: (event) => heard.push(["remoteRegistration", event]),
    rendezvousConnect: (event) => heard.push(["rendezvousConnect", event]),
    rendezvousLost: (event) => heard.push(["rendezvousLost", event]),
    remoteRetry: (event) => heard.push(["remoteRetry", event]),
    handshakesPaused: (event) => heard.push(["handshakesPaused", event]),
    handshakeRefused: (event) => heard.push(["handshakeRefused", event]),
  });
  events.registration?.({ outcome: "error", durationMs: 1 });
  events.rendezvousConnect?.({ outcome: "success", durationMs: 2 });
  events.lost?.({ reason: "write_timeout", lastedMs: 3 });
  events.retrying?.({ what: "direct connection", afterMs: 4, reason: "upgrade refused", status: 429 });
  events.paused?.({ forMs: 5 });
  for (let i = 0; i < 20; i++) events.handshakeRefused?.({ reason: "paused" });
  assert.deepEqual(heard, [
    ["remoteRegistration", { outcome: "error", durationMs: 1 }],
    ["rendezvousConnect", { outcome: "success", durationMs: 2 }],
    ["rendezvousLost", { reason: "write_timeout", lastedMs: 3 }],
    ["remoteRetry", { what: "direct connection", afterMs: 4, reason: "upgrade refused", status: 429 }],
    ["handshakesPaused", { forMs: 5 }],
    ...Array(20).fill(["handshakeRefused", { reason: "paused" }]),
  ]);
});
