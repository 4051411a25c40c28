import assert from "node:assert/strict";
import { websocketTarget } from "../../../lib/relay/socket/websocket_target.ts";

Deno.test("path and query of a WebSocket URL stay as they are", () => {
  const paths = ["/a/../b?role=x&sig=%2F%zz", "/%2e%2e/./c", '/?a="b"{|}^`<>\'', "/a//b?c?d=/..", "/\\..\\", "/%00?"];
  for (const path of paths) {
    assert.deepEqual(websocketTarget(`wss://rendezvous.example${path}`), {
      secure: true,
      origin: "wss://rendezvous.example",
      path,
    });
  }
});

Deno.test("a path that is not there is the root", () => {
  assert.equal(websocketTarget("ws://127.0.0.1:80")?.path, "/");
  assert.equal(websocketTarget("ws://127.0.0.1:80?a=b")?.path, "/?a=b");
  assert.equal(websocketTarget("ws://127.0.0.1:80/c#fragment")?.path, "/c");
  assert.equal(websocketTarget("ws://127.0.0.1#fragment?")?.path, "/");
});

Deno.test("host and port are brought into their usual form, and user information is left out", () => {
  const origins = {
    "WS://Example.COM:80/": "ws://example.com",
    "wss://example.com:8443": "wss://example.com:8443",
    "wss://user:pass@example.com/@x": "wss://example.com",
    "ws://user@h@[::1]:9/": "ws://[::1]:9",
    "ws://0x7f.1/": "ws://127.0.0.1",
  };
  for (const [url, origin] of Object.entries(origins)) assert.equal(websocketTarget(url)?.origin, origin, url);
});

Deno.test("what is no WebSocket URL with a host, or cannot stand in a request line, is none", () => {
  const urls = [
    "",
    "ws:",
    "ws://",
    "ws:///path",
    "http://h/",
    "wss:h",
    "h/path",
    " ws://h/",
    "ws://h:99999/",
    "ws://h:x/",
  ];
  const unsendable = [
    "ws://h/a b",
    "ws://h/?\r\nx: y",
    "ws://h/é",
    "ws://h/\t",
    "ws://h/\x7f",
    "ws://host\\x/",
    "ws://a b/",
    "ws://@/",
  ];
  for (const url of [...urls, ...unsendable]) assert.equal(websocketTarget(url), undefined, url);
});
