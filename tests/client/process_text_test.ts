import assert from "node:assert/strict";
import fc from "fast-check";
import { linesOf, textOf } from "../../lib/client/process_text.ts";

/** A stream of the given bytes, cut at the given places. */
function cut(
  bytes: Uint8Array<ArrayBuffer>,
  places: readonly number[],
  cancelled?: () => void,
): ReadableStream<Uint8Array> {
  const ends = [...places.map((place) => place % (bytes.length + 1)).sort((a, b) => a - b), bytes.length];
  let start = 0;
  return new ReadableStream({
    pull(controller) {
      const end = ends.shift();
      if (end === undefined) return controller.close();
      controller.enqueue(bytes.subarray(start, end));
      start = end;
    },
    cancel: () => cancelled?.(),
  }, { highWaterMark: 0 });
}

const texts = fc.string({ unit: "grapheme", maxLength: 200 }).filter((text) => !text.startsWith("\ufeff"));
const places = fc.array(fc.nat(2000), { maxLength: 20 });

Deno.test("textOf gives whole characters wherever the bytes are cut", async () => {
  await fc.assert(fc.asyncProperty(texts, places, async (text, places) => {
    const pieces = await Array.fromAsync(textOf(cut(new TextEncoder().encode(text), places)));
    assert.equal(pieces.join(""), text);
    for (const piece of pieces) {
      assert.ok(!/^[\udc00-\udfff]|[\ud800-\udbff]$|\ufffd/.test(piece) || text.includes("\ufffd"));
    }
  }));
});

Deno.test("linesOf gives the same lines wherever the bytes are cut", async () => {
  const lines = fc.array(
    fc.string({ unit: fc.constantFrom("a", "é", "\r", "👍"), maxLength: 8 }).map((line) => line.replace(/\r+$/, "")),
    { maxLength: 20 },
  );
  await fc.assert(fc.asyncProperty(lines, fc.constantFrom("\n", "\r\n"), places, async (lines, end, places) => {
    const text = lines.map((line) => line + end).join("");
    assert.deepEqual(await Array.fromAsync(linesOf(cut(new TextEncoder().encode(text), places))), lines);
  }));
});

Deno.test("linesOf gives a last line without an end, and no empty one after the last end", async () => {
  const lines = (text: string) => Array.fromAsync(linesOf(cut(new TextEncoder().encode(text), [])));
  assert.deepEqual(await lines("a\n\nb"), ["a", "", "b"]);
  assert.deepEqual(await lines("a\n"), ["a"]);
  assert.deepEqual(await lines(""), []);
});

Deno.test("linesOf refuses a line that is too long, however it comes, and cancels the stream", async () => {
  for (const text of ["abcd\n", "abcd", "abc\nabcdefgh"]) {
    for (const places of [[], [1, 2, 3]]) {
      let cancelled = false;
      const stream = cut(new TextEncoder().encode(text), places, () => cancelled = true);
      await assert.rejects(Array.fromAsync(linesOf(stream, 3)), {
        name: "RangeError",
        message: "a line of output is longer than 3 characters",
      });
      assert.ok(cancelled || text === "abcd", "the rest is not wanted");
    }
  }
  const exact = cut(new TextEncoder().encode("abc\r\nabc"), [4]);
  assert.deepEqual(await Array.fromAsync(linesOf(exact, 3)), ["abc", "abc"]);
});

Deno.test("leaving an iteration over text cancels the stream; a stream that fails is heard of once", async () => {
  let cancelled = false;
  const text = textOf(cut(new TextEncoder().encode("abc"), [1, 2], () => cancelled = true));
  for await (const piece of text) {
    assert.equal(piece, "a");
    break;
  }
  assert.ok(cancelled);
  const broken = new ReadableStream<Uint8Array>({ start: (controller) => controller.error(new Error("broken")) });
  await assert.rejects(Array.fromAsync(textOf(broken)), /^Error: broken$/);
});
