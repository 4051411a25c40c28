import assert from "node:assert/strict";
import fc from "fast-check";
import { originFlaw } from "../lib/origin.ts";

Deno.test("originFlaw finds nothing wrong with what a browser sends for a page, and something with every other address", () => {
  fc.assert(fc.property(fc.webUrl({ withQueryParameters: true, withFragments: true }), (text) => {
    const { origin, href } = new URL(text);
    assert.equal(originFlaw(origin), undefined);
    for (const other of [text, href, `${origin}/`, origin.toUpperCase(), ` ${origin}`]) {
      if (other !== origin) assert.notEqual(originFlaw(other), undefined, other);
    }
  }));
});

Deno.test("originFlaw refuses any text that is no origin, whatever it is", () => {
  fc.assert(fc.property(fc.string({ unit: "binary" }), (text) => {
    if (originFlaw(text) !== undefined) return;
    assert.match(text, /^[a-z][a-z0-9+.-]*:\/\/[^/?#@\s*]+$/);
  }));
  for (
    const text of [
      "",
      "null",
      "*",
      "https://*.example.com",
      "about:blank",
      "file:///",
      "file://host",
      "blob:x",
      "wss://example.com",
      "ws://127.0.0.1:1",
      "ftp://x",
    ]
  ) {
    assert.notEqual(originFlaw(text), undefined, text);
  }
});
