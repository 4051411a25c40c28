import assert from "node:assert/strict";
import { canonical, parseExact } from "./exact_json.ts";

Deno.test("exact JSON keeps integers that a number cannot hold", () => {
  assert.equal(canonical(parseExact('{"id":9223372036854775807}')), '{"id":9223372036854775807}');
  assert.notEqual(canonical(parseExact("9007199254740993")), canonical(parseExact("9007199254740992")));
});

Deno.test("exact JSON has one text for all orders of members and all white space", () => {
  assert.equal(canonical(parseExact('{"b":[1, null],"a":"x"}')), canonical(parseExact('{ "a":"x", "b":[1,null]}')));
  assert.notEqual(canonical(parseExact("[1,2]")), canonical(parseExact("[2,1]")));
});
