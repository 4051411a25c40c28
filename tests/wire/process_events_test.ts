import assert from "node:assert/strict";
import { Mismatch } from "./mismatch.ts";
import { ProcessEvents } from "./process_events.ts";

const output = (seq: number, text: string, stream = "stdout") => ({
  method: "process/output",
  params: { processId: "p", seq, stream, chunk: new TextEncoder().encode(text).toBase64() },
});
const exited = (seq: number, exitCode = 0) => ({
  method: "process/exited",
  params: { processId: "p", seq, exitCode, sandboxDenied: false },
});
const closed = (seq: number) => ({ method: "process/closed", params: { processId: "p", seq } });

function events(...messages: Record<string, unknown>[]): ProcessEvents {
  const events = new ProcessEvents();
  for (const message of messages) events.accept(message);
  return events;
}

const RULES = { inOrder: true, fromOne: true };
const RECORDED = events(output(1, "one"), output(2, "two"), exited(3), closed(4));

Deno.test("events compare equal however the output is cut", () => {
  events(output(1, "onet"), output(2, "w"), exited(3), output(4, "o"), closed(5)).compare(RECORDED, RULES);
});

Deno.test("events differ by a lost byte, a gap, another exit code, a stream or what comes after the close", () => {
  const wrong = [
    events(output(1, "onetw"), exited(2), closed(3)),
    events(output(1, "onetwo"), exited(3), closed(4)),
    events(output(1, "onetwo"), exited(2, 1), closed(3)),
    events(output(1, "onetwo", "stderr"), exited(2), closed(3)),
    events(output(1, "one"), exited(2), closed(3), output(4, "two")),
    events(output(2, "onetwo"), exited(3), closed(4)),
    events(output(1, "onetwo"), exited(2)),
  ];
  for (const received of wrong) assert.throws(() => received.compare(RECORDED, RULES), Mismatch);
});

Deno.test("events may be out of order on the wire only where that is allowed", () => {
  const received = events(output(2, "two"), output(1, "one"), exited(3), closed(4));
  received.compare(RECORDED, { inOrder: false, fromOne: true });
  assert.throws(() => received.compare(RECORDED, RULES), /do not rise/);
});

Deno.test("events refuse a notification with a member too many or too few", () => {
  assert.throws(() => events({ method: "process/closed", params: { processId: "p" } }), Mismatch);
  assert.throws(() => events({ ...closed(1), jsonrpc: "2.0" }), Mismatch);
});

Deno.test("events before a cut compare equal when there are more of them, and differ by another byte or exit code", () => {
  const recorded = events(output(1, "one"), output(2, "two"));
  events(output(1, "onetwo"), output(2, "three"), exited(3)).compareBeginning(recorded, RULES);
  for (const wrong of [events(output(1, "onet")), events(output(1, "onetwi")), events(output(2, "onetwo"))]) {
    assert.throws(() => wrong.compareBeginning(recorded, RULES), Mismatch);
  }
  assert.throws(() => events(output(1, "onetwo"), exited(2, 1)).compareBeginning(RECORDED, RULES), Mismatch);
});

Deno.test("a recorded number has a counterpart where the received output is cut at the same place", () => {
  const recorded = events(output(1, "one"), output(2, "two"), output(3, "three"));
  const received = events(output(1, "onetwo"), output(2, "thr"), output(3, "ee"));
  assert.deepEqual([0, 1, 2, 3].map((seq) => received.counterpart(recorded, seq)), [0, null, 1, 3]);
});
