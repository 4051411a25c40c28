import fc from "fast-check";
import assert from "node:assert/strict";
import { type Codec, enumeration, exactU64, i64, map, noParams, seq, string, u16, u64 } from "../lib/codec.ts";
import { buffer } from "../lib/buffered.ts";
import { parseJson, plainJson, toWellFormedJson } from "../lib/json.ts";

const decode = <T>(codec: Codec<T>, json: string): T => codec.decode(parseJson(json));
const invalidNumber = { kind: "invalidParams", message: "invalid number" };

Deno.test("u64 takes every 64-bit integer, and what no number holds exactly as the largest that is exact", () => {
  assert.equal(decode(u64, "0"), 0);
  assert.equal(decode(u64, "9007199254740991"), Number.MAX_SAFE_INTEGER);
  assert.equal(decode(u64, "9007199254740993"), Number.MAX_SAFE_INTEGER);
  assert.equal(decode(u64, "18446744073709551615"), Number.MAX_SAFE_INTEGER);
  for (const text of ["18446744073709551616", "-1", "1.0", "1e3", "1e400"]) {
    assert.throws(() => decode(u64, text), invalidNumber, text);
  }
  assert.throws(() => decode(u64, "null"), { message: "invalid type: null, expected u64" });
});

Deno.test("u16 and i64 have their own bounds", () => {
  assert.equal(decode(u16, "65535"), 65535);
  assert.throws(() => decode(u16, "65536"), invalidNumber);
  assert.equal(decode(i64, "-9223372036854775808"), -Number.MAX_SAFE_INTEGER);
  assert.equal(decode(i64, "9223372036854775807"), Number.MAX_SAFE_INTEGER);
  for (const text of ["9223372036854775808", "-9223372036854775809", "1.5", "1e2"]) {
    assert.throws(() => decode(i64, text), invalidNumber, text);
  }
});

Deno.test("no integer of millions of digits is converted, which would hold up everybody for seconds", () => {
  const { BigInt } = globalThis;
  let longest = 0;
  globalThis.BigInt = Object.assign((value: string) => {
    longest = Math.max(longest, String(value).length);
    return BigInt(value);
  }, { asIntN: BigInt.asIntN }) as BigIntConstructor;
  try {
    const digits = "1".repeat(1000);
    for (const codec of [u16, u64, i64, exactU64] as Codec<unknown>[]) {
      assert.throws(() => decode(codec, digits), invalidNumber);
    }
    assert.throws(() => string.decode(parseJson(digits), true), { message: /^invalid type: integer `1+`, expected/ });
    assert.deepEqual(plainJson(buffer(parseJson(digits))), { "$serde_json::private::Number": digits });
  } finally {
    globalThis.BigInt = BigInt;
  }
  assert.ok(longest < 50, `converted ${longest} digits`);
});

Deno.test("exactU64 keeps every bit on both ways", () => {
  fc.assert(fc.property(fc.bigInt({ min: 0n, max: 2n ** 64n - 1n }), (value) => {
    assert.equal(decode(exactU64, String(value)), value);
    assert.equal(toWellFormedJson({ watchId: exactU64.encode(value) }), `{"watchId":${value}}`);
  }));
  assert.throws(() => decode(exactU64, "18446744073709551616"), invalidNumber);
});

Deno.test("noParams are null or an empty object", () => {
  assert.equal(decode(noParams, "null"), null);
  assert.equal(decode(noParams, "{}"), null);
  assert.throws(() => decode(noParams, '{"x":1}'), { message: "invalid type: map, expected unit" });
  assert.throws(() => decode(noParams, "[]"), { message: "invalid type: sequence, expected unit" });
});

Deno.test("an enumeration is a name, or a name with nothing in it", () => {
  const two = enumeration(["a", "b"], { c: "b" });
  assert.equal(decode(two, '"a"'), "a");
  assert.equal(decode(two, '"c"'), "b");
  assert.equal(decode(two, '{"b":null}'), "b");
  for (
    const [json, message] of [
      ['"x"', "unknown variant `x`, expected one of `a`, `b`, `c`"],
      ['{"a":null,"b":null}', "invalid value: map, expected map with a single key"],
      ['{"a":{}}', "invalid type: map, expected unit"],
      ["5", "invalid type: number, expected string or map"],
    ] as const
  ) assert.throws(() => decode(two, json), { kind: "invalidParams", message });
  assert.throws(() => decode(enumeration(["a"]), '"x"'), { message: "unknown variant `x`, expected `a`" });
  assert.throws(() => decode(enumeration(["a", "b"]), '"x"'), { message: "unknown variant `x`, expected `a` or `b`" });
});

Deno.test("sequences and maps keep their order and name the first bad element", () => {
  assert.deepEqual(decode(seq(string), '["b","a"]'), ["b", "a"]);
  assert.deepEqual([...decode(map(string), '{"b":"1","10":"2","a":"3"}').keys()], ["b", "10", "a"]);
  assert.throws(() => decode(seq(string), '["a",null,5]'), { message: "invalid type: null, expected a string" });
  assert.deepEqual(map(string).encode(new Map([["__proto__", "x"]])), JSON.parse('{"__proto__":"x"}'));
});
