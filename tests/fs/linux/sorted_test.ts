import assert from "node:assert/strict";
import fc from "fast-check";
import { compareUtf8, sorted } from "../../../lib/fs/linux/sorted.ts";
import { inSlices } from "../../../lib/fs/linux/steps.ts";
import { never } from "../scratch.ts";
import { wholeSlice } from "./trees.ts";

function compareBytes(a: string, b: string): number {
  const [left, right] = [a, b].map((text) => new TextEncoder().encode(text)) as [Uint8Array, Uint8Array];
  let at = 0;
  while (at < left.length && left[at] === right[at]) at++;
  return (left[at] ?? -1) - (right[at] ?? -1);
}

const text = fc.string({ unit: fc.constantFrom("a", "b", ".", "é", "\u{ffff}", "\u{e000}", "\ufffd", "😀", "𐀀") });

Deno.test("texts compare as their bytes do", () => {
  fc.assert(fc.property(text, text, (a, b) => {
    assert.equal(Math.sign(compareUtf8(a, b)), Math.sign(compareBytes(a, b)));
  }));
});

Deno.test("any number of things is sorted in steps", async () => {
  for (const length of [0, 1, 2, 2047, 2048, 2049, 10_000]) {
    const items = Array.from({ length }, (_, index) => ({ key: (index * 7919) % 1000, index }));
    const expected = items.toSorted((a, b) => a.key - b.key);
    assert.deepEqual(await inSlices(sorted(items, (a, b) => a.key - b.key), wholeSlice(), never), expected);
  }
});
