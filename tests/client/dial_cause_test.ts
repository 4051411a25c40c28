import assert from "node:assert/strict";
import { type DialError, errorCause, saysOnlyThatItFailed, statusCause } from "../../lib/client/dial_cause.ts";

const DENO = "NetworkError: failed to connect to WebSocket: ";
const BUN = "WebSocket connection to 'wss://127.0.0.1:1/' failed: ";

Deno.test("a status is named as far as it has a name", () => {
  assert.equal(statusCause(404), "HTTP error: 404 Not Found");
  assert.equal(statusCause(299), "HTTP error: 299 <unknown status code>");
});

Deno.test("what Deno, Node.js and Bun say of a failed upgrade comes out in the reference's words", () => {
  const cases: [DialError | string, string][] = [
    [`${DENO}Invalid status code: 401`, "HTTP error: 401 Unauthorized"],
    [`${BUN}Expected 101 status code: 404`, "HTTP error: 404 Not Found"],
    [`${DENO}connection closed before message completed`, "WebSocket protocol error: Handshake not finished"],
    [`${DENO}operation was canceled`, "WebSocket protocol error: Handshake not finished"],
    [`${BUN}Connection ended`, "WebSocket protocol error: Handshake not finished"],
    [{ message: "other side closed", code: "UND_ERR_SOCKET" }, "WebSocket protocol error: Handshake not finished"],
    [`${DENO}Didn't receive h2 alpn, aborting connection`, "WebSocket protocol error: Handshake not finished"],
    ["The operation was aborted.", "WebSocket protocol error: Handshake not finished"],
    [`${DENO}invalid peer certificate: UnknownIssuer`, "TLS error: invalid peer certificate: UnknownIssuer"],
    [`${BUN}TLS handshake failed: self signed certificate`, "TLS error: TLS handshake failed: self signed certificate"],
    [
      { message: "self-signed certificate", code: "DEPTH_ZERO_SELF_SIGNED_CERT" },
      "TLS error: self-signed certificate",
    ],
    [
      { message: "connect ECONNREFUSED 127.0.0.1:1", code: "ECONNREFUSED", errno: -111 },
      "IO error: Connection refused (os error 111)",
    ],
    [{ message: "", code: "ECONNREFUSED" }, "IO error: Connection refused"],
    [
      { message: "getaddrinfo ENOTFOUND a", code: "ENOTFOUND", errno: -3008 },
      "IO error: failed to lookup address information: Name or service not known",
    ],
    [`${DENO}tcp connect error`, "IO error: tcp connect error"],
    ["", "IO error: no connection came about"],
    ["Incorrect hash received", "WebSocket protocol error: Incorrect hash received"],
  ];
  for (const [said, cause] of cases) {
    assert.equal(errorCause(typeof said === "string" ? { message: said } : said), cause);
  }
});

Deno.test("it is known where a platform says nothing of the reason", () => {
  for (const said of [`${DENO}tcp connect error`, `${DENO}dns error`, `${BUN}Failed to connect`, ""]) {
    assert.equal(saysOnlyThatItFailed(said), true, said);
  }
  assert.equal(saysOnlyThatItFailed(`${DENO}Invalid status code: 401`), false);
});
