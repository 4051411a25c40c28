import assert from "node:assert/strict";
import fc from "fast-check";
import {
  copyString,
  JsonNumber,
  JsonSyntaxError,
  MAX_JSON_DEPTH,
  MAX_JSON_VALUES,
  parseJson,
  plainJson,
  toWellFormedJson,
} from "../lib/json.ts";
import { readCases } from "./support/cases.ts";

/** A text and what the reference says of it; null: it is JSON. */
type Case = [text: string, refusal: string | null];

Deno.test("parseJson refuses what the reference refuses, with its sentence and its place", () => {
  for (const [text, refusal] of readCases<Case>("json_cases.jsonl", import.meta.url)) {
    if (refusal === null) parseJson(text);
    else assert.throws(() => parseJson(text), { name: "JsonSyntaxError", message: refusal }, JSON.stringify(text));
  }
});

/** JSON values of every kind, deep and wide enough to matter; keys of one object differ. */
const jsonValue = fc.jsonValue({ maxDepth: 6, noUnicodeString: false }).filter((value) =>
  JSON.stringify(value).isWellFormed()
);

Deno.test("parseJson agrees with JSON.parse on every value, however it is spaced", () => {
  fc.assert(fc.property(jsonValue, fc.constantFrom("", " ", "\t", "\r\n"), (value, indent) => {
    const text = JSON.stringify(value, null, indent);
    // A lone surrogate would be written as an escape, which parseJson refuses.
    fc.pre(!/\\ud[89a-f]/.test(text));
    assert.deepEqual(plainJson(parseJson(` ${text}\n`)), JSON.parse(text));
  }));
});

Deno.test("parseJson refuses whatever JSON.parse refuses", () => {
  const damaged = fc.tuple(jsonValue, fc.nat(), fc.nat(3), fc.constantFrom(...'"\\{}[]:,0-.e\u0001x ')).map(
    ([value, place, cut, put]) => {
      const text = JSON.stringify(value);
      const at = place % (text.length + 1);
      return text.slice(0, at) + put + text.slice(at + cut);
    },
  );
  fc.assert(
    fc.property(damaged, (text) => {
      fc.pre(text.isWellFormed());
      try {
        JSON.parse(text);
      } catch {
        assert.throws(() => parseJson(text), JsonSyntaxError);
      }
    }),
    { numRuns: 500 },
  );
});

Deno.test("parseJson keeps the text of numbers, but for -0", () => {
  for (const text of ["0", "-1", "1.50", "1e400", "9007199254740993", "-9223372036854775808", "0.0"]) {
    assert.deepEqual(parseJson(text), new JsonNumber(text));
  }
  assert.deepEqual(parseJson("-0"), new JsonNumber("0"));
});

Deno.test("parseJson keeps the order of members and takes __proto__ and constructor for ordinary names", () => {
  const object = parseJson('{"z":1,"__proto__":2,"a":3,"constructor":4,"10":5}');
  assert(object instanceof Map);
  assert.deepEqual([...object.keys()], ["z", "__proto__", "a", "constructor", "10"]);
});

Deno.test("parseJson reads strings of every length, plain and escaped", () => {
  for (const length of [0, 1, 12, 31, 32, 33, 34, 100, 5000]) {
    const text = "ü".repeat(length);
    assert.equal(parseJson(JSON.stringify(text)), text);
    assert.equal(parseJson(JSON.stringify(`${text}\n${text}"`)), `${text}\n${text}"`);
    assert.throws(() => parseJson(`"${text}\n"`), /^JsonSyntaxError: control character/);
  }
});

Deno.test("parseJson counts values but not keys, and stops at the limit before it reads on", () => {
  const ones = (count: number) => Array(count).fill("1").join(",");
  assert.equal((parseJson(`[${ones(MAX_JSON_VALUES - 1)}]`) as unknown[]).length, MAX_JSON_VALUES - 1);
  const limit = "JSON-RPC message exceeds the limit of 262144 JSON values at line";
  for (
    const [text, place] of [
      [`[${ones(MAX_JSON_VALUES)}]`, "1 column 524287"],
      [`[${ones(MAX_JSON_VALUES - 1)}, {"a" : nonsense`, "1 column 524288"],
      [`[${ones(MAX_JSON_VALUES - 2)}, {"a" : "b"  , "c" : 1 } , 1]`, "1 column 524293"],
      [`[${ones(MAX_JSON_VALUES - 2)}, [ \n [ ] , 2 ] , 1]`, "2 column 1"],
    ] as const
  ) assert.throws(() => parseJson(text), { message: `${limit} ${place}` });
  const keys = Array.from({ length: MAX_JSON_VALUES / 2 }, (_, key) => `"${key}":1`).join(",");
  assert.equal((parseJson(`{${keys}}`) as ReadonlyMap<string, unknown>).size, MAX_JSON_VALUES / 2);
});

Deno.test("parseJson takes 127 levels and names the place of the 128th", () => {
  const lists = (depth: number) => "[".repeat(depth) + "]".repeat(depth);
  parseJson(lists(MAX_JSON_DEPTH));
  assert.throws(() => parseJson(lists(128)), { message: "recursion limit exceeded at line 1 column 128" });
  const objects = `${'{"a":'.repeat(128)}1${"}".repeat(128)}`;
  assert.throws(() => parseJson(objects), { message: "recursion limit exceeded at line 1 column 636" });
  // Levels that have been closed do not add up.
  parseJson(`[${Array(1000).fill(lists(MAX_JSON_DEPTH - 1)).join(",")}]`);
});

Deno.test("parseJson hands over the value before trailing characters, and no value with another defect", () => {
  const caught = (text: string): unknown => {
    try {
      parseJson(text);
    } catch (error) {
      return error;
    }
    return undefined;
  };
  const trailing = caught('{"id":1} x');
  assert(trailing instanceof JsonSyntaxError);
  assert.equal(trailing.message, "trailing characters at line 1 column 10");
  assert.deepEqual(plainJson(trailing.value ?? null), { id: 1 });
  const other = caught('{"id":1');
  assert(other instanceof JsonSyntaxError);
  assert.equal(other.value, undefined);
});

Deno.test("toWellFormedJson lets no lone surrogate out, escaped or not", () => {
  assert.equal(toWellFormedJson(["\ud800", "a\udfffb", "\ud83d\ude00", "é"]), '["\ufffd","a\ufffdb","😀","é"]');
  // The six characters of an escape are text like any other.
  assert.equal(toWellFormedJson("\\ud800"), '"\\\\ud800"');
  assert.equal(toWellFormedJson("\\\ud800"), '"\\\\\ufffd"');
  fc.assert(fc.property(fc.string({ unit: "binary" }), fc.string(), (text, other) => {
    const broken = text.slice(1) + other + text.slice(0, 1);
    assert.equal(parseJson(toWellFormedJson(broken)), broken.toWellFormed());
  }));
});

Deno.test("toWellFormedJson writes a bigint with all its digits, and nothing else as one", () => {
  const value = { at: 2n ** 64n - 1n, list: [-1n, "1n", 1], text: '"7"' };
  assert.equal(toWellFormedJson(value), '{"at":18446744073709551615,"list":[-1,"1n",1],"text":"\\"7\\""}');
});

Deno.test("toWellFormedJson refuses what JSON cannot say", () => {
  assert.throws(() => toWellFormedJson(undefined), {
    name: "TypeError",
    message: "undefined cannot be written as JSON",
  });
});

Deno.test("copyString returns an equal string", () => {
  fc.assert(fc.property(fc.string({ unit: "grapheme" }), (text) => assert.equal(copyString(text), text)));
});

Deno.test("parseJson reads very long strings as JSON.parse does, and refuses the same", () => {
  const long = "x".repeat(10_000);
  for (const inside of ["", "\\n", '\\"', "\\\\", "\\u00e9", "é", "\\ud83d\\ude00", '\\\\\\"']) {
    for (const text of [`"${inside}${long}"`, `"${long}${inside}"`, `"${long}${inside}${long}"`]) {
      assert.equal(parseJson(text), JSON.parse(text));
      assert.deepEqual(parseJson(`[${text},"y"]`), JSON.parse(`[${text},"y"]`));
    }
  }
  for (const inside of ["\n", "\0", "\\x", "\\ud800", "\\"]) {
    assert.throws(() => parseJson(`"${long}${inside}"`), JsonSyntaxError, JSON.stringify(inside));
  }
  assert.throws(() => parseJson(`"${long}`), { message: "EOF while parsing a string at line 1 column 10001" });
});
