import assert from "node:assert/strict";
import { BodyDeltas } from "./body_deltas.ts";
import { Mismatch } from "./mismatch.ts";

function delta(seq: number, text: string, rest: { done?: boolean; error?: string | null } = {}) {
  const params = { requestId: "r", seq, deltaBase64: btoa(text), done: false, error: null, ...rest };
  return { method: "http/request/bodyDelta", params };
}

function deltas(...messages: ReturnType<typeof delta>[]): BodyDeltas {
  const body = new BodyDeltas();
  for (const message of messages) body.accept(message);
  return body;
}

Deno.test("a body is the same however it is cut", () => {
  const recorded = deltas(delta(1, "hel"), delta(2, "lo"), delta(3, "", { done: true }));
  const received = deltas(delta(1, "hello"), delta(2, "", { done: true }));
  assert.equal(received.covers(recorded), true);
  received.compare(recorded);
});

Deno.test("a body differs by its bytes, by its end and by its error", () => {
  const recorded = deltas(delta(1, "hello"), delta(2, "", { done: true }));
  const others = [
    deltas(delta(1, "hallo"), delta(2, "", { done: true })),
    deltas(delta(1, "hello")),
    deltas(delta(1, "hello"), delta(2, "", { done: true, error: "error decoding response body" })),
  ];
  for (const other of others) assert.throws(() => other.compare(recorded), Mismatch);
  assert.equal(deltas(delta(1, "hello")).covers(recorded), false);
});

Deno.test("deltas come by number, with all members, and none after the last", () => {
  assert.throws(() => deltas(delta(2, "a")), Mismatch);
  assert.throws(() => deltas(delta(1, "a"), delta(1, "b")), Mismatch);
  assert.throws(() => deltas(delta(1, "")), Mismatch);
  assert.throws(() => deltas(delta(1, "a", { done: true })), Mismatch);
  assert.throws(() => deltas(delta(1, "a", { error: "x" })), Mismatch);
  assert.throws(() => deltas(delta(1, "", { done: true }), delta(2, "a")), Mismatch);
  const { error: _, ...params } = delta(1, "a").params;
  assert.throws(() => new BodyDeltas().accept({ method: "http/request/bodyDelta", params }), Mismatch);
});
