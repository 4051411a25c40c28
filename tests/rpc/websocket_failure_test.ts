import assert from "node:assert/strict";
import { websocketFailure } from "../../lib/rpc/websocket_failure.ts";

const RESET = "WebSocket protocol error: Connection reset without closing handshake";

Deno.test("a WebSocket that ended by close frames did not break", () => {
  assert.equal(websocketFailure("", true), "");
});

Deno.test("a WebSocket that ended without them broke, whichever way the platform tells", () => {
  assert.equal(websocketFailure("", false), RESET);
  assert.equal(websocketFailure("Unexpected EOF", false), RESET);
  assert.equal(
    websocketFailure("Connection reset by peer (os error 104)", false),
    "IO error: Connection reset by peer (os error 104)",
  );
  assert.equal(websocketFailure("Invalid UTF-8", false), "WebSocket protocol error: Invalid UTF-8");
});
