import assert from "node:assert/strict";
import { borrowBuffer, returnBuffer } from "../lib/buffer_pool.ts";

const LENGTH = 1024 * 1024;

Deno.test("a buffer that was given back is borrowed again, in another length", () => {
  const first = borrowBuffer(LENGTH);
  returnBuffer(first.subarray(5, 10));
  const second = borrowBuffer(LENGTH / 2);
  assert.deepEqual([second.buffer, second.length], [first.buffer, LENGTH / 2]);
  returnBuffer(second);
});

Deno.test("two borrowers never have the same buffer, even if one was given back twice", () => {
  const first = borrowBuffer(LENGTH);
  returnBuffer(first);
  returnBuffer(first);
  const buffers = new Set(Array.from({ length: 20 }, () => borrowBuffer(LENGTH).buffer));
  assert.equal(buffers.size, 20);
});

Deno.test("short and very long buffers, and those of others, are let go", () => {
  for (const bytes of [borrowBuffer(10), borrowBuffer(100 * LENGTH), new Uint8Array(LENGTH)]) {
    returnBuffer(bytes);
    assert.notEqual(borrowBuffer(bytes.length).buffer, bytes.buffer);
  }
});
