import assert from "node:assert/strict";
import { LargeResult } from "../../lib/server/large_result.ts";

Deno.test("LargeResult puts its parts between the two ends of a message and lets go of its bytes", () => {
  const bytes = new TextEncoder().encode("aGVsbG8=");
  const result = new LargeResult('{"dataBase64":"', bytes, '"}');
  assert.equal(result.between('{"id":"é","result":', "}"), '{"id":"é","result":{"dataBase64":"aGVsbG8="}}');
  assert.equal(bytes.length, 0);
  assert.throws(() => result.between("", ""), /asked for twice/);
});
