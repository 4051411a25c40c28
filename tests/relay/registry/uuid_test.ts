import assert from "node:assert/strict";
import { uuidOf } from "../../../lib/relay/registry/uuid.ts";

const UUID = "0b8f6a1e-5d3c-4f7a-8e21-9c0d1e2f3a4b";
const SIMPLE = UUID.replaceAll("-", "");

Deno.test("a UUID is recognised in each of its spellings, and put into one", () => {
  for (const text of [UUID, UUID.toUpperCase(), SIMPLE, SIMPLE.toUpperCase(), `{${UUID}}`, `urn:uuid:${UUID}`]) {
    assert.equal(uuidOf(text), UUID, text);
  }
  assert.equal(uuidOf("00000000-0000-0000-0000-000000000000"), "00000000-0000-0000-0000-000000000000");
});

Deno.test("what the reference does not take for a UUID is none", () => {
  const wrapped = [
    `{${SIMPLE}}`,
    `urn:uuid:${SIMPLE}`,
    `URN:UUID:${UUID}`,
    `{urn:uuid:${UUID}}`,
    `{${UUID}`,
    `${UUID}}`,
  ];
  const others = [
    "",
    "s1",
    ` ${UUID}`,
    `${UUID}\n`,
    UUID.slice(1),
    `${UUID}0`,
    UUID.replace("-", ""),
    UUID.replace("0", "g"),
  ];
  for (const text of [...wrapped, ...others]) assert.equal(uuidOf(text), undefined, text);
});
