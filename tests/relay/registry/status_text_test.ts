import assert from "node:assert/strict";
import { statusText } from "../../../lib/relay/registry/status_text.ts";

Deno.test("a status is told with its own reason", () => {
  assert.equal(statusText(409), "409 Conflict");
  assert.equal(statusText(302), "302 Found");
  assert.equal(statusText(599), "599 <unknown status code>");
  assert.equal(statusText(0), "0 <unknown status code>");
});
