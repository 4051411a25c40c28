import assert from "node:assert/strict";
import fc from "fast-check";
import { Base64Writer } from "../../lib/fs/base64_writer.ts";
import { pattern, textOf } from "./scratch.ts";

Deno.test("Base64Writer writes what comes in pieces as if it had come whole, however much was expected", () => {
  const length = fc.oneof(fc.nat(10), fc.nat(200_000), fc.constantFrom(48 * 1024, 48 * 1024 + 1, 96 * 1024));
  fc.assert(
    fc.property(fc.array(length, { maxLength: 6 }), fc.nat(500_000), (lengths, expected) => {
      const writer = new Base64Writer(expected);
      const all = pattern(lengths.reduce((sum, length) => sum + length, 0));
      let end = 0, taken = 0;
      for (const length of lengths) {
        end += length;
        taken += writer.add(all.subarray(taken, end));
        assert.ok(end - taken < 3);
      }
      assert.equal(textOf(writer.end(all.subarray(taken)).base64), all.toBase64());
    }),
    { numRuns: 50 },
  );
});
