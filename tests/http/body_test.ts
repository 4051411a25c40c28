import assert from "node:assert/strict";
import { framingOf } from "../../lib/http/body.ts";
import { MalformedResponse } from "../../lib/http/failure.ts";
import { HeaderMap } from "../../lib/http/header_map.ts";

/** How the end of a body is known, in short. */
function framing(headers: [string, string][], options: { method?: string; status?: number; minor?: 0 | 1 } = {}) {
  const { method = "GET", status = 200, minor = 1 } = options;
  const found = framingOf(method, { status, minorVersion: minor, headers }, HeaderMap.from(headers));
  return found.kind === "length" ? found.length : found.kind;
}

Deno.test("a body ends after its length, after its chunks, or with the connection", () => {
  assert.equal(framing([["content-length", "5"]]), 5);
  assert.equal(framing([["transfer-encoding", "Chunked"]]), "chunked");
  assert.equal(framing([["transfer-encoding", "gzip"], ["transfer-encoding", "gzip, chunked"]]), "chunked");
  assert.equal(framing([]), "until-close");
  assert.equal(framing([["transfer-encoding", "chunked, gzip"]]), "until-close");
  assert.equal(framing([["transfer-encoding", "identity"], ["content-length", "5"]]), "until-close");
});

Deno.test("chunks count more than a length", () => {
  assert.equal(framing([["content-length", "5"], ["transfer-encoding", "chunked"]]), "chunked");
});

Deno.test("some responses have no body, whatever their headers say", () => {
  const headers: [string, string][] = [["content-length", "5"]];
  assert.equal(framing(headers, { method: "HEAD" }), 0);
  for (const status of [101, 204, 304]) assert.equal(framing(headers, { status }), 0);
  assert.equal(framing(headers, { method: "CONNECT" }), 0);
  assert.equal(framing(headers, { method: "CONNECT", status: 407 }), 5);
  assert.equal(framing(headers, { status: 205 }), 5);
});

Deno.test("lengths that agree are one, and others are none", () => {
  assert.equal(framing([["content-length", "2"], ["content-length", "2"]]), 2);
  assert.equal(framing([["content-length", "2, 2"]]), 2);
  assert.equal(framing([["content-length", "18446744073709551613"]]), 2 ** 64);
  for (const value of ["2, 3", "+2", "-2", "2.0", "x", "", ",", "18446744073709551614", "9".repeat(100_000)]) {
    assert.throws(() => framing([["content-length", value]]), MalformedResponse, value.slice(0, 30));
  }
  assert.throws(() => framing([["content-length", "2"], ["content-length", "3"]]), MalformedResponse);
});

Deno.test("HTTP/1.0 knows no transfer codings", () => {
  assert.throws(() => framing([["transfer-encoding", "chunked"]], { minor: 0 }), MalformedResponse);
});
