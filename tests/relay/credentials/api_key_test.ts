import assert from "node:assert/strict";
import { apiKey } from "../../../lib/relay/credentials/api_key.ts";

const signal = new AbortController().signal;

Deno.test("an API key is shown as a bearer token to a registry that is trusted", async () => {
  const credential = apiKey("sk-1", "CODEX_API_KEY", "https://registry.example.com", ["registry.example.com"]);
  assert.deepEqual(await credential.headers(signal), { authorization: "Bearer sk-1" });
  assert.equal(credential.renew, undefined);
});

Deno.test("an API key for another registry is no credential at all", () => {
  assert.throws(() => apiKey("sk-1", "CODEX_API_KEY", "https://registry.example.com", []), { name: "CredentialError" });
});

Deno.test("an API key that no header can carry is refused, and not repeated", () => {
  for (const key of ["a\nb", "a b", "kä", "\0"]) {
    assert.throws(() => apiKey(key, "CODEX_API_KEY", "http://localhost", []), {
      message: "the API key of CODEX_API_KEY holds characters that an HTTP header cannot carry",
    });
  }
});
