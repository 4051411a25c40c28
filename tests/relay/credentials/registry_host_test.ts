import assert from "node:assert/strict";
import fc from "fast-check";
import { isLoopback } from "../../../lib/loopback.ts";
import { API_KEY_RULE, requireTrustedRegistry } from "../../../lib/relay/credentials/registry_host.ts";

function isTrusted(url: string, trusted: readonly string[] = []): boolean {
  try {
    requireTrustedRegistry(url, API_KEY_RULE, trusted);
    return true;
  } catch (error) {
    assert.ok(error instanceof Error && error.name === "CredentialError");
    return false;
  }
}

const REFUSAL =
  "remote exec-server API-key authentication is restricted to HTTPS openai.com and openai.org hosts and " +
  "subdomains or loopback hosts; --trust-registry HOST allows another one, over HTTPS";

Deno.test("an API key may go to OpenAI over https, and to this machine", () => {
  const allowed = [
    ...["https://openai.com", "https://API.OpenAI.com/base/", "https://a.b.openai.org:8443", "https://openai.com:1"],
    ...["http://localhost:8080", "https://LOCALHOST", "http://127.0.0.1", "https://127.8.9.1/x", "http://[::1]:9"],
    // Other ways to write these: the HTTP client goes where the parser says.
    ...[
      "http://0x7f.1",
      "http://2130706433",
      "http://[0:0:0:0:0:0:0:1]",
      "https://ｏpenai.com",
      "https://user:pw@openai.com",
    ],
  ];
  for (const url of allowed) assert.equal(isTrusted(url), true, url);
});

Deno.test("an API key goes nowhere else", () => {
  const refused = [
    ...["http://openai.com", "http://api.openai.com", "https://example.com", "https://chatgpt.com"],
    ...[
      "https://notopenai.com",
      "https://openai.com.evil.example",
      "https://openai.community",
      "https://openai.com%2eevil.example",
    ],
    ...["https://openai.com@evil.example", "https://openai.com:x@evil.example/", "https://evil.example/openai.com"],
    ...["https://evil.example?openai.com", "https://evil.example#.openai.com", "https://evil.example\\.openai.com"],
    // With the root's dot it is another name, and localhost's may be looked up anywhere.
    ...["https://openai.com.", "http://localhost.", "http://a.localhost", "https://localhost.example"],
    ...["http://128.0.0.1", "http://126.255.255.255", "http://0.0.0.0", "http://[::]", "http://[::ffff:127.0.0.1]"],
    ...["http://127.0.0.1.example", "https://xn--openi-7za.com", "https://öpenai.com", "https://оpenai.com"],
    ...["wss://openai.com", "ftp://openai.com", "foo://localhost", "foo://openai.com"],
  ];
  for (const url of refused) {
    assert.throws(() => requireTrustedRegistry(url, API_KEY_RULE, []), { message: REFUSAL, transient: false }, url);
  }
});

Deno.test("a registry's URL that is none, or has no host, is told from one that is not trusted", () => {
  const check = (url: string) => () => requireTrustedRegistry(url, API_KEY_RULE, []);
  const invalid = "invalid remote exec-server registration URL: ";
  assert.throws(check("nope"), { message: `${invalid}relative URL without a base` });
  assert.throws(check("https://"), { message: `${invalid}empty host` });
  assert.throws(check("https://a:99999"), { message: `${invalid}invalid port number` });
  for (const url of ["file:///x", "data:text/plain,x", "mailto:a@openai.com"]) {
    assert.throws(check(url), { message: "remote exec-server registration URL must include a host" });
  }
});

Deno.test("hosts that the operator trusts are compared whole, and need https", () => {
  const trusted = ["registry.example.com", "10.0.0.7", "[fd00::1]"];
  for (
    const url of [
      "https://registry.example.com",
      "https://Registry.Example.COM:8443/x",
      "https://10.7",
      "https://[FD00:0::1]",
    ]
  ) {
    assert.equal(isTrusted(url, trusted), true, url);
  }
  for (
    const url of [
      ...["http://registry.example.com", "https://a.registry.example.com", "https://example.com", "http://10.0.0.7"],
      ...[
        "https://registry.example.com.evil.example",
        "https://registry.example.com@evil.example",
        "https://registry.example.com.",
      ],
    ]
  ) {
    assert.equal(isTrusted(url, trusted), false, url);
  }
  assert.equal(isTrusted("https://api.openai.com", trusted), true);
});

const label = fc.stringMatching(/^[a-z]([a-z0-9-]{0,8}[a-z0-9])?$/);

Deno.test("below a trusted domain every name is trusted, and a name that only looks like one is not", () => {
  fc.assert(fc.property(fc.array(label, { maxLength: 3 }), label, label, (below, other, end) => {
    const host = [...below, "openai.com"].join(".");
    assert.equal(isTrusted(`https://${host}`), true);
    assert.equal(isTrusted(`https://${host.toUpperCase()}/path?query`), true);
    assert.equal(isTrusted(`http://${host}`), false);
    assert.equal(isTrusted(`https://${other}${host.replaceAll(".", "")}.${end}`), false);
    assert.equal(isTrusted(`https://${host}.${end}x`), false);
    assert.equal(isTrusted(`https://${host}@${other}.${end}x`), false);
  }));
});

Deno.test("whatever the URL, a key goes only where the URL parser says that it may", () => {
  const pieces = fc.constantFrom(
    ...[
      "https://",
      "http://",
      "openai.com",
      "evil.example",
      "@",
      ".",
      ":",
      "/",
      "\\",
      "#",
      "?",
      "%2e",
      "[::1]",
      "127.1",
    ],
    ...["localhost", "443", " ", "\t", "\u3002", "\u00ad", "xn--", "user", ".."],
  );
  fc.assert(fc.property(fc.array(pieces, { maxLength: 7 }), (parts) => {
    const url = parts.join("");
    if (!isTrusted(url)) return;
    const { protocol, hostname } = new URL(url);
    const isVendor = protocol === "https:" && /^([a-z0-9_-]*\.)*openai\.(com|org)$/.test(hostname);
    assert.ok(isVendor || ["localhost", "[::1]", "127.0.0.1"].includes(hostname), `${url} leads to ${hostname}`);
  }));
});

Deno.test("the whole of 127.0.0.0/8 is this machine, and no other address", () => {
  fc.assert(fc.property(fc.ipV4(), (address) => {
    assert.equal(isLoopback(address), address.startsWith("127."));
  }));
});
