import assert from "node:assert/strict";
import fc from "fast-check";
import { bytesToText, textToBytes } from "../../lib/http/bytes.ts";

Deno.test("every byte has its character, and back", () => {
  fc.assert(
    fc.property(fc.uint8Array({ maxLength: 300 }), (bytes) => {
      const text = bytesToText(bytes);
      assert.deepEqual([...text].map((char) => char.charCodeAt(0)), [...bytes]);
      assert.deepEqual(textToBytes(text), Uint8Array.from(bytes));
    }),
  );
});

Deno.test("texts may be long", () => {
  const bytes = new Uint8Array(5_000_000).fill(0xe4);
  assert.equal(bytesToText(bytes).length, bytes.length);
  assert.deepEqual(textToBytes(bytesToText(bytes)), bytes);
});
