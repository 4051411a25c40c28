import assert from "node:assert/strict";
import { errorWords } from "../../lib/cli/error_words.ts";
import { disconnected, serverError } from "../../lib/client/client_error.ts";

Deno.test("a lost connection is told with its reason, however deep it is", () => {
  const bare = "exec-server transport disconnected";
  assert.equal(errorWords(disconnected()), bare);
  assert.equal(errorWords(disconnected(undefined, "end of input")), `${bare}: end of input`);
  assert.equal(errorWords(disconnected(undefined, disconnected(undefined, "gone"))), `${bare}: gone`);
  assert.equal(errorWords(disconnected(undefined, disconnected("broken", "gone"))), `${bare}: broken`);
  assert.equal(errorWords(disconnected(undefined, new TypeError("x"))), bare);
});

Deno.test("all else has words of its own", () => {
  assert.equal(errorWords(serverError(-1, "no")), "exec-server rejected request (-1): no");
  assert.equal(errorWords(new Error("x", { cause: "y" })), "x");
});
