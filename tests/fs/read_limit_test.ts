import assert from "node:assert/strict";
import { checkReadLimit, READ_LIMIT_BYTES, REFERENCE_LIMIT_BYTES } from "../../lib/fs/read_limit.ts";

Deno.test("the largest file that may be read leaves a megabyte for the message around its base64", () => {
  const longestString = 2 ** 29 - 24;
  assert.throws(() => "x".repeat(longestString + 1), RangeError);
  const spare = longestString - Math.ceil(READ_LIMIT_BYTES / 3) * 4;
  assert.ok(spare > 1024 * 1024, `${spare} characters`);
  checkReadLimit(READ_LIMIT_BYTES);
});

Deno.test("a larger file is refused with the limit that it breaks", () => {
  const refusal = (limit: number) => ({
    kind: "invalidRequest",
    message: `file is too large to read: limit is ${limit} bytes`,
  });
  assert.throws(() => checkReadLimit(READ_LIMIT_BYTES + 1), refusal(READ_LIMIT_BYTES));
  assert.throws(() => checkReadLimit(REFERENCE_LIMIT_BYTES), refusal(READ_LIMIT_BYTES));
  assert.throws(() => checkReadLimit(REFERENCE_LIMIT_BYTES + 1), refusal(REFERENCE_LIMIT_BYTES));
});
