import assert from "node:assert/strict";
import { ownBytes } from "../../../lib/relay/socket/own_bytes.ts";

Deno.test("a message that is part of a larger buffer is copied out of it, a whole buffer is not", () => {
  const whole = Uint8Array.of(1, 2, 3, 4);
  const part = ownBytes(whole.subarray(1, 3));
  assert.deepEqual(part, Uint8Array.of(2, 3));
  assert.equal(part.buffer.byteLength, 2);
  assert.equal(ownBytes(whole).buffer, whole.buffer);
});
