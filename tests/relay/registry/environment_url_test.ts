import assert from "node:assert/strict";
import { environmentUrl, requireSecure } from "../../../lib/relay/registry/environment_url.ts";

const PREFIX = "environment registry configuration error: ";

Deno.test("a registry's path is kept, and the environment is one segment behind it", () => {
  const of = (registry: string, id = "env-1") => environmentUrl(registry, id).of("register");
  assert.equal(of("https://registry.example"), "https://registry.example/cloud/environment/env-1/register");
  assert.equal(of("  http://h/base// \n"), "http://h/base/cloud/environment/env-1/register");
  assert.equal(of("http://h/a b"), "http://h/a%20b/cloud/environment/env-1/register");
  assert.equal(of("https://user:password@h:8443"), "https://h:8443/cloud/environment/env-1/register");
  assert.equal(of("http://h", "a/b?c#d%é ."), "http://h/cloud/environment/a%2Fb%3Fc%23d%25%C3%A9%20./register");
  assert.equal(environmentUrl("http://h", "e").of("direct/register"), "http://h/cloud/environment/e/direct/register");
});

Deno.test("an environment's id is what was typed, without white space around it", () => {
  assert.equal(environmentUrl("http://h", " a/b c \t").environmentId, "a/b c");
});

Deno.test("what is no registry's base or no environment's id is refused", () => {
  const bases = {
    " ": "environment registry base URL is required",
    "registry.example": "invalid remote endpoint URL: relative URL without a base",
    "http://": "invalid remote endpoint URL: empty host",
    "ftp://h": "the environment registry's base URL must use https:// or http://",
    "https://h/?token=secret": "the environment registry's base URL must have no query and no fragment",
    "https://h/#secret": "the environment registry's base URL must have no query and no fragment",
  };
  for (const [base, why] of Object.entries(bases)) {
    assert.throws(() => environmentUrl(base, "e"), { kind: "configuration", message: PREFIX + why }, base);
  }
  const ids = {
    " \n": "environment id is required for remote exec-server registration",
    ".": "this environment id cannot be part of a URL",
    " .. ": "this environment id cannot be part of a URL",
    "\ud800": "this environment id cannot be part of a URL",
  };
  for (const [id, why] of Object.entries(ids)) {
    assert.throws(() => environmentUrl("http://h", id), { kind: "configuration", message: PREFIX + why }, id);
  }
});

Deno.test("only this machine may be reached in the clear", () => {
  const secure = [
    "wss://h/x",
    "ws://localhost",
    "ws://127.9.9.9:1/?a",
    "ws://[::1]/",
    "ws://0x7f000001/",
    "WS://LOCALHOST",
  ];
  for (const url of secure) requireSecure(url, "wss");
  const insecure = [
    "ws://h",
    "ws://localhost.example",
    "ws://127.0.0.1.example",
    "ws://10.0.0.1",
    "http://127.0.0.1",
    "ftp://localhost",
  ];
  for (const url of [...insecure, "https://h"]) {
    const message = `${PREFIX}remote transport requires wss for non-loopback endpoints`;
    assert.throws(() => requireSecure(url, "wss"), { kind: "configuration", message }, url);
  }
  const message = `${PREFIX}remote transport requires https for non-loopback endpoints`;
  assert.throws(() => requireSecure("http://h", "https"), { message });
  assert.throws(() => requireSecure("ws://localhost", "https"), { message });
  assert.throws(() => requireSecure("h", "https"), {
    message: `${PREFIX}invalid remote endpoint URL: relative URL without a base`,
  });
});
