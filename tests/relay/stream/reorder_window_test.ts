import assert from "node:assert/strict";
import fc from "fast-check";
import { MAX_HELD_BYTES, MAX_REORDER_DISTANCE, MAX_SEQ } from "../../../lib/relay/limits.ts";
import { ReorderWindow } from "../../../lib/relay/stream/reorder_window.ts";

function record(byte: number, length = 1): Uint8Array<ArrayBuffer> {
  return new Uint8Array(length).fill(byte);
}

Deno.test("ReorderWindow hands records on in order, each once", () => {
  const window = new ReorderWindow();
  const [zero, one, two, three] = [record(0), record(1), record(2), record(3)] as const;
  assert.deepEqual(window.accept(3, three), []);
  assert.deepEqual(window.accept(1, one), []);
  assert.deepEqual(window.accept(3, record(9)), []);
  assert.deepEqual(window.accept(2, two), []);
  assert.deepEqual(window.accept(0, zero), [zero, one, two, three]);
  assert.deepEqual(window.accept(0, record(9)), []);
  assert.equal(window.heldBytes, 0);
});

Deno.test("ReorderWindow keeps a record that is 64 ahead and refuses one that is 65 ahead", () => {
  const window = new ReorderWindow(10);
  assert.deepEqual(window.accept(10 + MAX_REORDER_DISTANCE, record(1)), []);
  assert.throws(() => window.accept(11 + MAX_REORDER_DISTANCE, record(1)), { fault: "record out of reach" });
});

Deno.test("ReorderWindow holds every record between the next and the farthest", () => {
  const window = new ReorderWindow();
  for (let seq = MAX_REORDER_DISTANCE; seq > 0; seq--) assert.deepEqual(window.accept(seq, record(seq)), []);
  assert.equal(window.heldBytes, 64);
  assert.deepEqual(window.accept(0, record(0)).map(([byte]) => byte), [...Array(65).keys()]);
});

Deno.test("ReorderWindow holds 1048576 bytes and not one more", () => {
  const window = new ReorderWindow();
  const half = MAX_HELD_BYTES / 2;
  window.accept(1, record(1, half));
  window.accept(2, record(2, half));
  assert.equal(window.heldBytes, MAX_HELD_BYTES);
  assert.throws(() => window.accept(3, record(3)), { fault: "record out of reach" });
  assert.equal(window.accept(0, record(0, 5000)).length, 3);
  assert.equal(window.heldBytes, 0);
});

Deno.test("ReorderWindow does not hold the large message that a small record is a view into", () => {
  const window = new ReorderWindow();
  const message = new Uint8Array(200_000);
  window.accept(1, message.subarray(100, 120));
  const [, held] = window.accept(0, record(0));
  assert.equal(held!.buffer.byteLength, 20);
});

Deno.test("ReorderWindow takes the last number and then no other", () => {
  const window = new ReorderWindow(MAX_SEQ - 1);
  window.accept(MAX_SEQ, record(1));
  assert.equal(window.accept(MAX_SEQ - 1, record(0)).length, 2);
  assert.throws(() => window.accept(0, record(0)), { fault: "records used up" });
});

Deno.test("ReorderWindow forgets what it holds when told to", () => {
  const window = new ReorderWindow();
  window.accept(1, record(1, 100));
  window.clear();
  assert.equal(window.heldBytes, 0);
  assert.deepEqual(window.accept(0, record(0)).length, 1);
});

Deno.test("ReorderWindow puts any order within its distance right, with any duplicates", () => {
  fc.assert(fc.property(
    fc.array(fc.nat(30), { maxLength: 200 }),
    fc.array(fc.nat(), { maxLength: 50 }),
    (delays, repeats) => {
      // Each record is late by so many places; equal places keep their order.
      const order = delays.map((delay, seq) => ({ seq, place: seq + delay })).sort((a, b) => a.place - b.place);
      const sent = order.map(({ seq }) => seq);
      for (const repeat of repeats) {
        if (sent.length > 0) sent.splice(repeat % (sent.length + 1), 0, repeat % delays.length);
      }
      const window = new ReorderWindow();
      const got: number[] = [];
      for (const seq of sent) {
        let ready;
        try {
          ready = window.accept(seq, new Uint8Array([seq]));
        } catch (error) {
          // A duplicate that came first may be the one that is out of reach.
          assert.ok(seq - got.length > MAX_REORDER_DISTANCE, String(error));
          return;
        }
        got.push(...ready.map(([byte]) => byte!));
      }
      assert.deepEqual(got, delays.map((_, seq) => seq % 256));
    },
  ));
});
