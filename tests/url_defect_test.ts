import assert from "node:assert/strict";
import { urlDefect } from "../lib/url_defect.ts";

Deno.test("urlDefect names the part that keeps a text from being a URL", () => {
  for (
    const [text, defect] of [
      ["", "relative URL without a base"],
      ["/a", "relative URL without a base"],
      ["1a:b", "relative URL without a base"],
      ["//h/x", "relative URL without a base"],
      ["http://", "empty host"],
      ["  ht\ntp:///  ", "empty host"],
      ["https://a:99999/", "invalid port number"],
      ["http://user:word@a:b/", "invalid port number"],
      ["foo://a:b", "invalid port number"],
      ["http://[::1", "invalid IPv6 address"],
      ["foo://[1]", "invalid IPv6 address"],
      ["file://[z]/", "invalid IPv6 address"],
      ["http://1.2.3.256", "invalid IPv4 address"],
      ["file://1.2.3.256/", "invalid IPv4 address"],
      ["file://a..\uff11/x", "invalid IPv4 address"],
      ["file://a\u30021/x", "invalid IPv4 address"],
      ["file://.09./x", "invalid IPv4 address"],
      ["file://xn--127.0.0.1/x", "invalid international domain name"],
      ["https://xn--a.0x1/", "invalid international domain name"],
      ["foo://a b", "invalid domain character"],
      ["https://a b/", "invalid international domain name"],
      ["file://u@localhost/x", "invalid international domain name"],
      ["file://localhost:80/x", "invalid international domain name"],
      ["file://\u00ad/x", "empty host"],
    ] as const
  ) {
    assert(!URL.canParse(text), text);
    assert.equal(urlDefect(text), defect, text);
  }
});
