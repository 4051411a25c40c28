import assert from "node:assert/strict";
import { Buffer } from "node:buffer";
import fc from "fast-check";
import type { Body } from "../../lib/http/body.ts";
import { WholeBody } from "../../lib/http/whole_body.ts";

/** A body in pieces of the given lengths, each of which is overwritten when the next one is asked for. */
function bodyOf(lengths: readonly number[]): Body {
  let next = 0;
  let last = new Uint8Array();
  return {
    length: undefined,
    read: () => {
      last.fill(0xee);
      const length = lengths[next++];
      if (length === undefined) return Promise.resolve(null);
      last = piece(next, length);
      return Promise.resolve(last);
    },
    [Symbol.dispose]() {},
  };
}

function piece(number: number, length: number): Uint8Array<ArrayBuffer> {
  const bytes = new Uint8Array(length);
  for (let at = 0; at < length; at++) bytes[at] = (at + number) % 251;
  return bytes;
}

Deno.test("WholeBody holds all pieces in their order, as bytes or in base64", async () => {
  const lengths = fc.array(fc.oneof(fc.nat({ max: 50 }), fc.constantFrom(786_431, 786_432, 786_433)), { maxLength: 4 });
  await fc.assert(
    fc.asyncProperty(lengths, async (lengths) => {
      const expected = Buffer.concat(lengths.map((length, at) => piece(at + 1, length)));
      const bytes = (await WholeBody.read(bodyOf(lengths), Infinity))!.takeBytes();
      assert.ok(expected.equals(bytes));
      const base64 = (await WholeBody.read(bodyOf(lengths), Infinity))!.takeBase64();
      assert.ok(new TextDecoder().decode(base64) === expected.toString("base64"));
    }),
    { numRuns: 30 },
  );
});

Deno.test("WholeBody holds no more than it may", async () => {
  assert.equal((await WholeBody.read(bodyOf([6, 4]), 10))?.length, 10);
  assert.equal(await WholeBody.read(bodyOf([6, 5]), 10), undefined);
});
