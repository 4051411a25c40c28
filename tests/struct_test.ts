import assert from "node:assert/strict";
import { nullable, string, u64 } from "../lib/codec.ts";
import { parseJson } from "../lib/json.ts";
import { defaulted, omittable, optional, optionalOr, struct } from "../lib/struct.ts";

const point = struct("Point", {
  x: u64,
  y: optional(u64),
  z: optionalOr(u64, 9),
  name: defaulted(string, "p"),
  note: defaulted(nullable(string), null),
});
const decode = (json: string) => point.decode(parseJson(json));

Deno.test("absent members have their defaults, and null is a default only where it is allowed", () => {
  const defaults = { x: 1, y: null, z: 9, name: "p", note: null };
  assert.deepEqual(decode('{"x":1}'), defaults);
  assert.deepEqual(decode('{"note":null,"z":null,"y":null,"x":1,"unknown":[]}'), defaults);
  assert.deepEqual(decode('{"x":1,"y":2,"z":3,"name":"n","note":"t"}'), { x: 1, y: 2, z: 3, name: "n", note: "t" });
  assert.throws(() => decode('{"x":1,"name":null}'), { message: "invalid type: null, expected a string" });
  assert.throws(() => decode('{"x":null}'), { message: "invalid type: null, expected u64" });
});

Deno.test("the first bad member in the order sent is named, a missing one only when there is no bad one", () => {
  assert.throws(() => decode('{"name":5,"y":"a"}'), { message: "invalid type: number, expected a string" });
  assert.throws(() => decode('{"y":"a","name":5}'), { message: 'invalid type: string "a", expected u64' });
  assert.throws(() => decode('{"y":1}'), { kind: "invalidParams", message: "missing field `x`" });
});

Deno.test("an array stands for the members in order; only defaulted ones may be missing at its end", () => {
  assert.deepEqual(decode("[1,2,3]"), { x: 1, y: 2, z: 3, name: "p", note: null });
  assert.throws(() => decode("[1,2]"), { message: "invalid length 2, expected struct Point with 5 elements" });
  assert.throws(() => decode('[1,2,3,"n",null,6]'), { message: "invalid length 6, expected fewer elements in array" });
  assert.throws(() => point.decode(parseJson('[1,2,3,"n",null,6]'), true), {
    message: "invalid length 6, expected 5 elements in sequence",
  });
  assert.throws(() => decode("5"), { message: "invalid type: number, expected struct Point" });
});

Deno.test("encoding says null, but for members that are left out instead", () => {
  const value = { x: 1, y: null, z: 2, name: "n", note: null };
  assert.deepEqual(point.encode(value), value);
  const sparse = struct("Sparse", { a: omittable(u64), b: omittable(u64) });
  assert.equal(JSON.stringify(sparse.encode({ a: null, b: 2 })), '{"b":2}');
});
