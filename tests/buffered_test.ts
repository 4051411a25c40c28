import assert from "node:assert/strict";
import { buffer } from "../lib/buffered.ts";
import { parseJson, plainJson } from "../lib/json.ts";

Deno.test("buffer keeps a document whose numbers have a type", () => {
  const text = '{"a":[1,-9223372036854775808,18446744073709551615,1.5,1.0,1e21],"b":{"c":"d","e":null}}';
  assert.deepEqual(buffer(parseJson(text)), parseJson(text));
});

Deno.test("buffer refuses integers of more than 64 bits, wherever they stand, but not of more than 128", () => {
  const refusal = (text: string) => ({ message: `invalid type: integer \`${text}\` as u128, expected any value` });
  for (const text of ["18446744073709551616", "340282366920938463463374607431768211455"]) {
    assert.throws(() => buffer(parseJson(`{"a":[${text}]}`)), refusal(text));
  }
  assert.throws(() => buffer(parseJson("-9223372036854775809")), {
    message: "invalid type: integer `-9223372036854775809` as i128, expected any value",
  });
  const huge = "340282366920938463463374607431768211456";
  assert.deepEqual(plainJson(buffer(parseJson(huge))), { "$serde_json::private::Number": huge });
});

Deno.test("buffer hides numbers that are not spelled the shortest way", () => {
  for (const text of ["1e2", "1.50", "0.10", "1E400"]) {
    assert.deepEqual(plainJson(buffer(parseJson(text))), { "$serde_json::private::Number": text });
  }
});
