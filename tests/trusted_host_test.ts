import assert from "node:assert/strict";
import { parseTrustedHost, trustedHostFlaw } from "../lib/trusted_host.ts";

Deno.test("a trusted host is written as the URL parser writes it", () => {
  const hosts = [
    ["registry.example.com", "registry.example.com"],
    ["Registry.EXAMPLE.com", "registry.example.com"],
    ["bücher.example", "xn--bcher-kva.example"],
    ["10.7", "10.0.0.7"],
    ["fd00::1", "[fd00::1]"],
    ["[FD00:0:0::1]", "[fd00::1]"],
    ["registry.example.com.", "registry.example.com."],
  ];
  for (const [text, host] of hosts) {
    assert.equal(parseTrustedHost(text!), host);
    assert.equal(trustedHostFlaw(text!), undefined);
  }
});

Deno.test("what is more or less than a host is refused", () => {
  const texts = [
    ...["", " ", "*", "*.example.com", "https://example.com", "example.com/", "example.com:443", "example.com:8443"],
    ...["example.com:", "[::1]:443", "[::1]:", "user@example.com", "example.com?x", "example.com#x", "a\\b", "a b"],
    ...["example.com\n", "exam%70le.com", "1.2.3.4.5", "300.1.1.1", "[::1", "::1]", ":::", "a..b:1:2"],
  ];
  for (const text of texts) {
    assert.equal(parseTrustedHost(text), undefined, JSON.stringify(text));
    assert.match(trustedHostFlaw(text) ?? "", /^a host name or an IP address is expected/);
  }
});
