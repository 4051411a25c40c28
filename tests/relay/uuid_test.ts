import assert from "node:assert/strict";
import { uuidOf } from "../../lib/relay/uuid.ts";

const UUID = "0b8f6a1e-5d3c-4f7a-8e21-9c0d1e2f3a4b";

Deno.test("a UUID is recognised in each of its spellings, and put into one", () => {
  const simple = UUID.replaceAll("-", "");
  for (const text of [UUID, UUID.toUpperCase(), simple, `{${UUID}}`, `urn:uuid:${UUID}`]) {
    assert.equal(uuidOf(text), UUID, text);
  }
});

Deno.test("what is nearly a UUID is none", () => {
  const texts = [
    "",
    "s1",
    ` ${UUID}`,
    `${UUID}\n`,
    `{${UUID}`,
    UUID.slice(1),
    `${UUID}0`,
    UUID.replace("-", ""),
    UUID.replace("0", "g"),
  ];
  for (const text of texts) assert.equal(uuidOf(text), undefined, text);
});
