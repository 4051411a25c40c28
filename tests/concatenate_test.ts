import assert from "node:assert/strict";
import { concatenate } from "../lib/concatenate.ts";

Deno.test("parts stand behind each other, in memory of their own", () => {
  const first = new Uint8Array([1, 2]);
  const whole = concatenate([first, new Uint8Array(0), new Uint8Array([3])]);
  first.fill(9);
  assert.deepEqual(whole, new Uint8Array([1, 2, 3]));
  assert.deepEqual(concatenate([]), new Uint8Array(0));
});
