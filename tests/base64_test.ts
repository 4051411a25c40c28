import assert from "node:assert/strict";
import fc from "fast-check";
import {
  decodeBase64,
  decodeBase64Portably,
  decodeBase64WithNode,
  encodeBase64,
  encodeBase64Portably,
  encodeBase64WithNode,
} from "../lib/base64.ts";

const bytes = fc.uint8Array({ maxLength: 300 });

Deno.test("base64 survives the way there and back, with and without the engine's help", () => {
  fc.assert(fc.property(bytes, (bytes) => {
    const text = encodeBase64(bytes);
    assert.equal(text, encodeBase64Portably(bytes));
    assert.equal(text, encodeBase64WithNode(bytes));
    assert.deepEqual(decodeBase64(text), new Uint8Array(bytes));
    assert.deepEqual(decodeBase64Portably(text), new Uint8Array(bytes));
    assert.deepEqual(decodeBase64WithNode(text), new Uint8Array(bytes));
  }));
});

Deno.test("encodeBase64 encodes the part of a buffer that it is given", () => {
  fc.assert(fc.property(bytes, fc.nat(300), fc.nat(300), (bytes, start, length) => {
    const part = bytes.subarray(start, start + length);
    assert.equal(encodeBase64(part), encodeBase64(part.slice()));
    assert.equal(encodeBase64WithNode(part), encodeBase64(part));
  }));
});

Deno.test("an engine's toBase64 that ignores where a part of a buffer begins is not used", async () => {
  // V8 13.7, in which it is on trial.
  const prototype = Uint8Array.prototype as unknown as { toBase64(): string };
  const native = prototype.toBase64;
  prototype.toBase64 = function (this: Uint8Array) {
    return native.call(new Uint8Array(this.buffer, 0, this.length));
  };
  try {
    const url = new URL("../lib/base64.ts?encoding-from-the-beginning", import.meta.url);
    const under: { encodeBase64: typeof encodeBase64 } = await import(url.href);
    assert.equal(under.encodeBase64(new Uint8Array([1, 2, 3, 4]).subarray(1)), "AgME");
  } finally {
    prototype.toBase64 = native;
  }
});

Deno.test("encodeBase64Portably takes more bytes than a call has room for arguments", () => {
  const many = new Uint8Array(1_000_003).map((_, index) => index * 7);
  assert.equal(encodeBase64Portably(many), encodeBase64(many));
});

Deno.test("decodeBase64 and its twins for other engines agree on damaged texts", () => {
  const damaged = fc.tuple(bytes, fc.nat(), fc.nat(2), fc.constantFrom("", "=", "==", " ", "\n", "-", "é", "A")).map(
    ([bytes, place, cut, put]) => {
      const text = encodeBase64(bytes);
      const at = place % (text.length + 1);
      return text.slice(0, at) + put + text.slice(at + cut);
    },
  );
  const outcome = (decode: (text: string) => Uint8Array, text: string): unknown => {
    try {
      return decode(text);
    } catch (error) {
      return (error as Error).message;
    }
  };
  const decodeAsUnderNode = (text: string) => decodeBase64WithNode(text) ?? decodeBase64Portably(text);
  fc.assert(
    fc.property(damaged, (text) => {
      assert.deepEqual(outcome(decodeBase64, text), outcome(decodeBase64Portably, text));
      assert.deepEqual(outcome(decodeAsUnderNode, text), outcome(decodeBase64Portably, text));
    }),
    { numRuns: 500 },
  );
});

Deno.test("decodeBase64 refuses white space, missing padding, stray bits and foreign alphabets by byte and offset", () => {
  for (
    const [text, message] of [
      ["aGk", "Invalid padding"],
      ["aGk==", "Invalid symbol 61, offset 3."],
      ["a", "Invalid input length: 1"],
      ["aGk=\n", "Invalid symbol 10, offset 4."],
      [" aGk=", "Invalid symbol 32, offset 0."],
      ["aGlr\r\naGlr", "Invalid symbol 13, offset 4."],
      ["-_-_", "Invalid symbol 45, offset 0."],
      ["aGl=", "Invalid last symbol 108, offset 2."],
      ["YQ==YQ==", "Invalid symbol 61, offset 2."],
      ["é", "Invalid symbol 195, offset 0."],
    ] as const
  ) assert.throws(() => decodeBase64(text), { name: "Base64Error", message }, JSON.stringify(text));
});
