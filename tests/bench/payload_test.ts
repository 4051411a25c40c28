import assert from "node:assert/strict";
import { base64Bytes, bodyBytes, outputBytes } from "./payload.ts";

/** A notification as a server writes it; `more` are members after the chunk. */
function output(bytes: Uint8Array, more = ""): string {
  const chunk = bytes.toBase64();
  return `{"method":"process/output","params":{"processId":"p","seq":1,"stream":"stdout","chunk":"${chunk}"${more}}}`;
}

Deno.test("outputBytes counts the bytes of a chunk whatever its padding", () => {
  for (let length = 0; length <= 66; length++) {
    assert.equal(outputBytes(output(new Uint8Array(length).fill(255))), length);
  }
});

Deno.test("outputBytes counts a chunk that is not the last member", () => {
  assert.equal(outputBytes(output(new Uint8Array(10), ',"stream":"pty"')), 10);
});

Deno.test("outputBytes leaves other messages to the parser", () => {
  assert.equal(outputBytes('{"method":"process/closed","params":{"processId":"p","seq":3}}'), null);
  assert.equal(outputBytes('{"id":1,"result":{"chunks":[{"seq":1,"stream":"pty","chunk":"AAAA"}]}}'), null);
  assert.equal(outputBytes('{"method":"process/output","params":{"chunk":"AAAAA"}}'), null);
});

Deno.test("bodyBytes counts a piece of a response, and the empty one at its end", () => {
  const piece = (delta: string, done: boolean) =>
    `{"method":"http/request/bodyDelta","params":{"requestId":"r","seq":1,"deltaBase64":"${delta}","done":${done},"error":null}}`;
  assert.equal(bodyBytes(piece(new Uint8Array(1000).toBase64(), false)), 1000);
  assert.equal(bodyBytes(piece("", true)), 0);
  assert.equal(bodyBytes(output(new Uint8Array(10))), null);
});

Deno.test("base64Bytes counts what a whole text stands for", () => {
  for (let length = 0; length <= 10; length++) assert.equal(base64Bytes(new Uint8Array(length).toBase64()), length);
  assert.equal(base64Bytes("AAAAA"), null);
});
