import assert from "node:assert/strict";
import fc from "fast-check";
import { BadLine, LineSplitter } from "../../lib/rpc/line_splitter.ts";

const encoder = new TextEncoder();

function feed(splitter: LineSplitter, chunks: readonly Uint8Array[]): string[] {
  const lines: string[] = [];
  for (const chunk of chunks) {
    // The caller reuses its buffer, so what the splitter keeps must be a copy.
    const buffer = new Uint8Array(chunk);
    lines.push(...splitter.push(buffer));
    buffer.fill(0xff);
  }
  return [...lines, ...splitter.end()];
}

function cut(bytes: Uint8Array, places: readonly number[]): Uint8Array[] {
  const borders = [...new Set(places.map((place) => place % (bytes.length + 1)))].sort((a, b) => a - b);
  return [...borders, bytes.length].map((border, i) => bytes.slice(borders[i - 1] ?? 0, border));
}

const piece = fc.oneof(
  fc.constantFrom("\n", "\r\n", "\r", " ", "\t", "\n\n", "\x85", "\xa0", "\ufeff", "é", "𝄞", '{"id":1}'),
  fc.string({ unit: "grapheme" }),
);

Deno.test("LineSplitter cuts a text as a split at newlines does, wherever the chunks end", () => {
  fc.assert(fc.property(fc.array(piece), fc.array(fc.nat()), (pieces, places) => {
    const text = pieces.join("");
    const expected = text.split("\n").map((line) => line.replace(/\r$/, "")).filter((line) =>
      /[^\p{White_Space}]/u.test(line)
    );
    assert.deepEqual(feed(new LineSplitter(1 << 20), cut(encoder.encode(text), places)), expected);
  }));
});

Deno.test("LineSplitter counts the bytes of a line alike, wherever the chunks end", () => {
  fc.assert(
    fc.property(fc.array(fc.nat(12), { minLength: 1 }), fc.array(fc.nat()), fc.nat(12), (lengths, places, limit) => {
      const bytes = encoder.encode(lengths.map((length) => "x".repeat(length)).join("\n"));
      const split = () => feed(new LineSplitter(limit), cut(bytes, places));
      if (Math.max(...lengths) > limit) assert.throws(split, BadLine);
      else assert.deepEqual(split(), lengths.filter((length) => length > 0).map((length) => "x".repeat(length)));
    }),
  );
});

Deno.test("LineSplitter yields the good lines before it throws at a bad one", () => {
  const lines = new LineSplitter(100).push(new Uint8Array([0x61, 0x0a, 0xff, 0x0a, 0x62, 0x0a]));
  assert.equal(lines.next().value, "a");
  assert.throws(() => lines.next(), { name: "BadLine", message: "a line that is not UTF-8" });
});

Deno.test("LineSplitter refuses a line as soon as it is too long, without its newline", () => {
  const splitter = new LineSplitter(4);
  assert.deepEqual([...splitter.push(encoder.encode("abcd\nabc"))], ["abcd"]);
  assert.throws(() => [...splitter.push(encoder.encode("de"))], /a line of more than 4 bytes/);
});

Deno.test("LineSplitter does not count the carriage return of a line's ending", () => {
  assert.deepEqual(feed(new LineSplitter(2), [encoder.encode("ab\r"), encoder.encode("\n")]), ["ab"]);
  assert.throws(() => feed(new LineSplitter(2), [encoder.encode("ab\r\r\n")]), BadLine);
  assert.throws(() => feed(new LineSplitter(2), [encoder.encode("ab\r"), encoder.encode("c")]), BadLine);
});

Deno.test("LineSplitter keeps a byte order mark, as the text that it is", () => {
  assert.deepEqual(feed(new LineSplitter(100), [encoder.encode("\ufeffx\n")]), ["\ufeffx"]);
});

Deno.test("LineSplitter refuses half a character at the end of a line and of the stream", () => {
  assert.throws(() => feed(new LineSplitter(100), [new Uint8Array([0xc3, 0x0a])]), BadLine);
  assert.throws(() => feed(new LineSplitter(100), [new Uint8Array([0x61, 0xc3])]), BadLine);
});
