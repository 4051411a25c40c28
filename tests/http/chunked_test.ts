import assert from "node:assert/strict";
import fc from "fast-check";
import { ChunkedDecoder } from "../../lib/http/chunked.ts";
import { MalformedResponse } from "../../lib/http/failure.ts";
import { bytesToText, textToBytes } from "../../lib/http/bytes.ts";

/** Decodes a text that arrives in pieces of the given lengths, the last of them for all of the rest. */
function decode(
  text: string,
  lengths: readonly number[] = [1_000_000],
): { body: string; rest: string; ended: boolean } {
  const decoder = new ChunkedDecoder();
  let body = "";
  let at = 0;
  for (let piece = 0; at < text.length && !decoder.ended; piece++) {
    const length = lengths[Math.min(piece, lengths.length - 1)]!;
    // Bytes before the piece stand for what other bytes may lie in the same buffer.
    const buffer = textToBytes(`#${text.slice(at, at + length)}`);
    const { dataEnd, readTo } = decoder.decode(buffer, 1, buffer.length);
    body += bytesToText(buffer.subarray(1, dataEnd));
    assert.equal(buffer[0], 0x23);
    at += readTo - 1;
  }
  return { body, rest: text.slice(at), ended: decoder.ended };
}

Deno.test("ChunkedDecoder gives back what was put into chunks, however chunks and pieces are cut", () => {
  const extension = fc.constantFrom("", ";a", ";a=b", ' ;x="y z"', "\t");
  const chunk = fc.record({
    data: fc.string({ unit: fc.constantFrom("a", "\r", "\n", "0", "\xff"), minLength: 1, maxLength: 40 }),
    extension,
    upper: fc.boolean(),
    zeros: fc.nat({ max: 3 }),
  });
  fc.assert(
    fc.property(
      fc.array(chunk, { maxLength: 6 }),
      fc.array(fc.constantFrom("x: y", "Trailer:"), { maxLength: 3 }),
      fc.array(fc.integer({ min: 1, max: 12 }), { minLength: 1 }),
      (chunks, trailers, lengths) => {
        const size = (length: number, upper: boolean) =>
          upper ? length.toString(16).toUpperCase() : length.toString(16);
        const encoded = chunks.map(({ data, extension, upper, zeros }) =>
          `${"0".repeat(zeros)}${size(data.length, upper)}${extension}\r\n${data}\r\n`
        );
        const text = `${encoded.join("")}0\r\n${trailers.map((line) => `${line}\r\n`).join("")}\r\nNEXT`;
        const { body, rest, ended } = decode(text, lengths);
        assert.equal(body, chunks.map(({ data }) => data).join(""));
        assert.ok(ended);
        assert.equal(rest, "NEXT");
      },
    ),
  );
});

Deno.test("ChunkedDecoder has not ended before the last empty line", () => {
  for (const text of ["3\r\nabc\r\n", "3\r\nabc\r\n0\r\n", "3\r\nabc\r\n0\r\n\r", "3\r\nabc\r\n0\r\nx: y\r\n"]) {
    assert.deepEqual(decode(text), { body: "abc", rest: "", ended: false });
  }
});

Deno.test("ChunkedDecoder refuses what is no chunk, whatever the pieces", () => {
  const defects = [
    " 3\r\nabc\r\n0\r\n\r\n",
    "\r\nabc\r\n0\r\n\r\n",
    ";x\r\nabc\r\n0\r\n\r\n",
    "zz\r\nabc\r\n0\r\n\r\n",
    "3z\r\nabc\r\n0\r\n\r\n",
    "3 4\r\nabc\r\n0\r\n\r\n",
    "-3\r\nabc\r\n0\r\n\r\n",
    "0x3\r\nabc\r\n0\r\n\r\n",
    "3\nabc\n0\n\n",
    "3;a\nb\r\nabc\r\n0\r\n\r\n",
    "3\r\nabc0\r\n\r\n",
    "3\r\nabcd\r\n0\r\n\r\n",
    "3\r\nabc\n0\r\n\r\n",
    "3\r\nabc\r\n0\r\nno trailer\r\n\r\n",
    "3\r\nabc\r\n0\r\nx: y\n\r\n",
    "FFFFFFFFFFFFFFFF\r\nabc",
    "10000000000000000\r\nabc",
  ];
  for (const text of defects) {
    assert.throws(() => decode(text), MalformedResponse, JSON.stringify(text));
    assert.throws(() => decode(text, [1]), MalformedResponse, JSON.stringify(text));
  }
});

Deno.test("ChunkedDecoder bounds what is not data: extensions of all chunks, and trailers", () => {
  const chunks = (extension: string, count: number) => `1;${extension}\r\nx\r\n`.repeat(count);
  assert.equal(decode(`${chunks("e".repeat(1000), 16)}0\r\n\r\n`).body.length, 16);
  assert.throws(() => decode(chunks("e".repeat(1000), 17)), MalformedResponse);
  assert.ok(decode(`0\r\nx: ${"y".repeat(16_000)}\r\n\r\n`).ended);
  assert.throws(() => decode(`0\r\nx: ${"y".repeat(17_000)}`), MalformedResponse);
  assert.throws(() => decode(`0\r\n${"a: b\r\n".repeat(101)}\r\n`), MalformedResponse);
});
