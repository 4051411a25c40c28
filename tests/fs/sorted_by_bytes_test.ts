import assert from "node:assert/strict";
import fc from "fast-check";
import { sortedByBytes } from "../../lib/fs/sorted_by_bytes.ts";
import { inSlices } from "../../lib/fs/steps.ts";
import { never } from "./scratch.ts";
import { wholeSlice } from "./linux/trees.ts";

function compareBytes(a: string, b: string): number {
  const [left, right] = [a, b].map((text) => new TextEncoder().encode(text)) as [Uint8Array, Uint8Array];
  let at = 0;
  while (at < left.length && left[at] === right[at]) at++;
  return (left[at] ?? -1) - (right[at] ?? -1);
}

const ANY = fc.string({ unit: fc.constantFrom("a", "b", ".", "é", "\u{ffff}", "\u{e000}", "\ufffd", "😀", "𐀀") });
const ASCII = fc.string({ unit: fc.constantFrom(..."abAB.-0 ") });

Deno.test("texts are sorted as their bytes are", async () => {
  for (const [text, plain] of [[ANY, false], [ASCII, true]] as const) {
    await fc.assert(fc.asyncProperty(fc.array(text, { maxLength: 50 }), async (texts) => {
      const sorted = await inSlices(sortedByBytes(texts, plain), wholeSlice(), never);
      assert.deepEqual(sorted, texts.toSorted(compareBytes));
    }));
  }
});

Deno.test("any number of texts is sorted in steps", async () => {
  for (const plain of [true, false]) {
    for (const length of [0, 1, 2, 1023, 1024, 1025, 10_000]) {
      const texts = Array.from({ length }, (_, index) => `${(index * 7919) % 1000}${plain ? "" : "é"}`);
      const work = sortedByBytes(texts, plain);
      assert.deepEqual(await inSlices(work, wholeSlice(), never), texts.toSorted());
    }
  }
});
