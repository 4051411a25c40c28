import assert from "node:assert/strict";
import { cString, cStringArray } from "../../lib/linux/cstring.ts";

Deno.test("a C string ends with a NUL", () => {
  assert.deepEqual([...cString("aé")], [0x61, 0xc3, 0xa9, 0]);
  assert.deepEqual([...cString(new Uint8Array([0xff]))], [0xff, 0]);
  assert.deepEqual([...cString("")], [0]);
});

Deno.test("an array of C strings ends with a null pointer, and each pointer leads to its string", () => {
  const strings = ["one", "", "zwei€", "x".repeat(1000)];
  const { pointers } = cStringArray(strings);
  const addresses = [...new BigUint64Array(pointers.buffer)];
  assert.equal(addresses.pop(), 0n);
  const read = addresses.map((address) => Deno.UnsafePointerView.getCString(Deno.UnsafePointer.create(address)!));
  assert.deepEqual(read, strings);
  assert.deepEqual([...new BigUint64Array(cStringArray([]).pointers.buffer)], [0n]);
});
