import assert from "node:assert/strict";
import { constants, zstdCompressSync } from "node:zlib";
import fc from "fast-check";
import { ZstdFrames } from "../../lib/http/zstd_frames.ts";
import { bytesToText, textToBytes } from "../../lib/http/bytes.ts";

const SKIPPABLE = "\x5a\x2a\x4d\x18\x03\0\0\0abc";
const EMPTY_SKIPPABLE = "\x50\x2a\x4d\x18\0\0\0\0";

/** Frames of all kinds: stored, repeated and compressed blocks, several blocks, with and without a checksum. */
const FRAMES = [
  ...["", "a", "hello zstd", "x".repeat(300_000), noise(300_000)].flatMap((text) => [
    compress(text, {}),
    compress(text, { [constants.ZSTD_c_checksumFlag]: 1, [constants.ZSTD_c_contentSizeFlag]: 0 }),
  ]),
  SKIPPABLE,
  EMPTY_SKIPPABLE,
];

function compress(text: string, params: Record<number, number>): string {
  return bytesToText(zstdCompressSync(textToBytes(text), { params }));
}

function noise(length: number): string {
  let state = 1;
  return Array.from(
    { length },
    () => String.fromCharCode((state = (state * 1_103_515_245 + 12_345) % 2 ** 31) >> 16 & 255),
  )
    .join("");
}

/** The parts that come of a stream in pieces; a part that ends a frame is followed by a bar. */
function split(stream: string, pieceLength: number): { parts: string[]; whole: boolean } {
  const frames = new ZstdFrames();
  const parts: string[] = [];
  for (let at = 0; at < stream.length; at += pieceLength) {
    const pieces = frames.split(textToBytes(stream.slice(at, at + pieceLength)));
    for (const part of pieces) parts.push(bytesToText(part));
  }
  return { parts, whole: frames.whole };
}

Deno.test("ZstdFrames cuts a stream behind its frames and nowhere else", () => {
  for (const frame of FRAMES) assert.deepEqual(split(frame, 1_000_000), { parts: [frame], whole: true });
  fc.assert(
    fc.property(fc.array(fc.constantFrom(...FRAMES), { maxLength: 4 }), (frames) => {
      assert.deepEqual(split(frames.join(""), 10_000_000), { parts: frames, whole: true });
    }),
  );
});

Deno.test("ZstdFrames loses nothing and finds the same ends in pieces of any size", () => {
  const small = FRAMES.filter((frame) => frame.length < 1000);
  fc.assert(
    fc.property(
      fc.array(fc.constantFrom(...small), { maxLength: 4 }),
      fc.integer({ min: 1, max: 40 }),
      (frames, length) => {
        const { parts, whole } = split(frames.join(""), length);
        assert.equal(parts.join(""), frames.join(""));
        assert.ok(whole);
        assert.ok(parts.length >= frames.length);
      },
    ),
  );
});

Deno.test("ZstdFrames knows a stream that was cut short, wherever it was cut", () => {
  for (const frame of FRAMES) {
    for (let end = 1; end < frame.length; end += Math.ceil(frame.length / 50)) {
      assert.equal(split(frame.slice(0, end), 1_000_000).whole, false);
    }
    assert.equal(split(frame.slice(0, -1), 1_000_000).whole, false);
  }
});

Deno.test("ZstdFrames refuses what is no frame", () => {
  assert.throws(() => split("junk", 4), TypeError);
  assert.throws(() => split(`${FRAMES[1]}junk`, 1000), TypeError);
  // A block of the kind that the format keeps for the future.
  assert.throws(() => split("\x28\xb5\x2f\xfd\x20\x00\x07\x00\x00", 100), TypeError);
});
