import assert from "node:assert/strict";
import { decodeMessage, MalformedMessage } from "../../lib/rpc/message.ts";
import cases from "./envelope_cases.json" with { type: "json" };

Deno.test("decodeMessage refuses each malformed envelope with the reference's reason, and takes the others", () => {
  for (const { send, reason } of cases) {
    let found: string | null = null;
    try {
      decodeMessage(send);
    } catch (error) {
      assert.ok(error instanceof MalformedMessage);
      found = error.message;
    }
    assert.equal(found, reason, `reason for ${send.slice(0, 200)}`);
  }
});
