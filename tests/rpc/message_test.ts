import assert from "node:assert/strict";
import { decodeMessage, MalformedMessage } from "../../lib/rpc/message.ts";
import cases from "./envelope_cases.json" with { type: "json" };

Deno.test("decodeMessage refuses each malformed envelope with the reference's reason, and takes the others", () => {
  for (const { send, reason } of cases) {
    let found: string | null = null;
    try {
      decodeMessage(send);
    } catch (error) {
      assert.ok(error instanceof MalformedMessage);
      found = error.message;
    }
    assert.equal(found, reason, `reason for ${send.slice(0, 200)}`);
  }
});

Deno.test("decodeMessage refuses bytes that are not UTF-8 with the reason of a parser of bytes", () => {
  const reason = (...bytes: number[]): string => {
    try {
      decodeMessage(new Uint8Array(bytes));
    } catch (error) {
      return (error as Error).message;
    }
    return "accepted";
  };
  assert.equal(reason(0xff, 0xfe, 1, 2), "expected value at line 1 column 1");
  const text = [...new TextEncoder().encode('{"method":"')];
  assert.equal(reason(...text, 0xff, 0x22, 0x7d), "invalid unicode code point at line 1 column 12");
});

Deno.test("decodeMessage takes as many values as its caller allows, a server's number unless told otherwise", () => {
  const message = `{"id":1,"result":[${"0,".repeat(300_000)}0]}`;
  const limit = /exceeds the limit of 262144 JSON values/;
  assert.throws(() => decodeMessage(message), limit);
  assert.throws(() => decodeMessage(new TextEncoder().encode(message)), limit);
  for (const form of [message, new TextEncoder().encode(message)]) {
    const { kind } = decodeMessage(form, Infinity);
    assert.equal(kind, "response");
  }
  assert.throws(() => decodeMessage('{"method":"a","params":[1,2]}', 4), /exceeds the limit of 4 JSON values/);
});
