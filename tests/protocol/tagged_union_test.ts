import assert from "node:assert/strict";
import { seq, string, u64 } from "../../lib/codec.ts";
import { parseJson } from "../../lib/json.ts";
import { taggedUnion, variant } from "../../lib/protocol/tagged_union.ts";

const shape = taggedUnion("Shape", "type", {
  empty: variant("Shape::Empty", {}),
  circle: variant("Shape::Circle", { radius: u64 }, ["a_round_thing"]),
});
const nested = taggedUnion("Nested", "kind", {
  leaf: variant("Nested::Leaf", { text: string }),
  shapes: variant("Nested::Shapes", { shapes: seq(shape) }),
});
const decode = (json: string) => shape.decode(parseJson(json));
const decodeNested = (json: string) => nested.decode(parseJson(json));

Deno.test("the tag may stand anywhere, under any of its names; unknown members are ignored", () => {
  assert.deepEqual(decode('{"radius":1,"type":"circle","color":2}'), { type: "circle", radius: 1 });
  assert.deepEqual(decode('{"type":"a_round_thing","radius":1}'), { type: "circle", radius: 1 });
  assert.deepEqual(decode('["circle",1]'), { type: "circle", radius: 1 });
  assert.deepEqual(shape.encode({ type: "circle", radius: 1 }), { type: "circle", radius: 1 });
});

Deno.test("refusals are those of a document that is buffered before it is decoded", () => {
  for (
    const [json, message] of [
      ["{}", "missing field `type`"],
      ["[]", "missing field `type`"],
      ['{"type":"x"}', "unknown variant `x`, expected one of `empty`, `a_round_thing`, `circle`"],
      ['{"type":0}', "invalid type: number, expected variant identifier"],
      ['{"type":"circle"}', "missing field `radius`"],
      ['{"type":"circle","radius":true}', "invalid type: boolean `true`, expected u64"],
      ['["circle"]', "invalid length 0, expected struct variant Shape::Circle with 1 element"],
      ['["empty",1]', "invalid length 1, expected 0 elements in sequence"],
      ["5", "invalid type: integer `5`, expected internally tagged enum Shape"],
      [
        "18446744073709551616",
        "invalid type: integer `18446744073709551616` as u128, expected internally tagged enum Shape",
      ],
      ["1e2", "missing field `type`"],
      [
        '{"type":"empty","x":18446744073709551616}',
        "invalid type: integer `18446744073709551616` as u128, expected any value",
      ],
    ] as const
  ) assert.throws(() => decode(json), { kind: "invalidParams", message }, json);
});

Deno.test("below another union a tag may be the number of a variant, and numbers show their value", () => {
  const shapes = (json: string) => decodeNested(`{"kind":"shapes","shapes":[${json}]}`);
  assert.deepEqual(shapes('{"type":1,"radius":2}'), { kind: "shapes", shapes: [{ type: "circle", radius: 2 }] });
  assert.throws(() => shapes('{"type":2}'), {
    message: "invalid value: integer `2`, expected variant index 0 <= i < 2",
  });
  assert.throws(() => shapes('{"type":-1}'), { message: "invalid type: integer `-1`, expected variant identifier" });
  assert.throws(() => decodeNested('{"kind":"leaf","text":1.5}'), {
    message: "invalid type: floating point `1.5`, expected a string",
  });
});
