import assert from "node:assert/strict";
import { describeJson, quoteText } from "../lib/decode_text.ts";
import { parseJson } from "../lib/json.ts";

Deno.test("describeJson names kinds, and contents where the reference shows them", () => {
  for (
    const [json, plain, buffered] of [
      ["null", "null", "null"],
      ["true", "boolean `true`", "boolean `true`"],
      ["5", "number", "integer `5`"],
      ["-5", "number", "integer `-5`"],
      ["1.5", "number", "floating point `1.5`"],
      ['"x"', 'string "x"', 'string "x"'],
      ["[1]", "sequence", "sequence"],
      ["{}", "map", "map"],
    ] as const
  ) {
    assert.equal(describeJson(parseJson(json)), plain);
    assert.equal(describeJson(parseJson(json), true), buffered);
  }
});

Deno.test("quoteText escapes quotes, controls, invisible characters and marks, but not letters", () => {
  assert.equal(quoteText("a\"b\\c'd"), `"a\\"b\\\\c'd"`);
  assert.equal(quoteText("\0\t\n\r\x01\x7f\x9f"), '"\\0\\t\\n\\r\\u{1}\\u{7f}\\u{9f}"');
  assert.equal(quoteText("é😀 日"), '"é😀 日"');
  assert.equal(quoteText("e\u0301\u00a0\u200b\u2028\ue000"), '"e\\u{301}\\u{a0}\\u{200b}\\u{2028}\\u{e000}"');
});

Deno.test("describeJson shows the beginning of a string that is longer than anyone reads, in whole characters", () => {
  assert.equal(describeJson("x".repeat(65_536)), `string "${"x".repeat(65_536)}"`);
  assert.equal(describeJson("x".repeat(65_537)), `string "${"x".repeat(65_536)}"…`);
  assert.equal(describeJson("x".repeat(65_535) + "😀".repeat(9)), `string "${"x".repeat(65_535)}"…`);
});
