import assert from "node:assert/strict";
import { type AwsChoice, type CredentialChoice, registrationSecrets } from "../../lib/server/mod.ts";

const HOME = { HOME: "/home/me" };
const BEARER: CredentialChoice = { kind: "bearerFile", path: "tokens/t" };
const ENVIRONMENT: CredentialChoice = { kind: "environment", trusted: [] };
const AWS: AwsChoice = { service: "execute-api" };

function secrets(credential: CredentialChoice, env: Record<string, string>, aws: AwsChoice | null = null) {
  return registrationSecrets({ credential, aws }, { env: (name) => env[name], cwd: () => "/work dir" });
}

Deno.test("registrationSecrets names the file that the registry is shown something of", async () => {
  assert.deepEqual(await secrets(BEARER, HOME), ["/work dir/tokens/t"]);
  assert.deepEqual(await secrets({ ...BEARER, path: "/run/t" }, HOME), ["/run/t"]);
  assert.deepEqual(await secrets(ENVIRONMENT, HOME), ["/home/me/.codex/auth.json"]);
  assert.deepEqual(await secrets(ENVIRONMENT, { ...HOME, CODEX_HOME: "/codex" }), ["/codex/auth.json"]);
  assert.deepEqual(await secrets(ENVIRONMENT, { ...HOME, CODEX_API_KEY: " " }), ["/home/me/.codex/auth.json"]);
});

Deno.test("registrationSecrets names nothing where nothing is read", async () => {
  assert.deepEqual(await secrets(ENVIRONMENT, { ...HOME, CODEX_API_KEY: "key" }), []);
  assert.deepEqual(await secrets(ENVIRONMENT, {}), []);
  for (const kind of ["bearerLine", "executorCredential", "chatGptToken"] as const) {
    assert.deepEqual(await secrets({ kind }, HOME), []);
  }
  assert.deepEqual(await secrets({ kind: "agentIdentity", trusted: [] }, HOME), []);
});

Deno.test("registrationSecrets names all that AWS's credentials may come from", async () => {
  const env = {
    ...HOME,
    AWS_SHARED_CREDENTIALS_FILE: "/aws/credentials",
    AWS_CONFIG_FILE: "config",
    AWS_WEB_IDENTITY_TOKEN_FILE: "/var/token",
    AWS_CONTAINER_AUTHORIZATION_TOKEN_FILE: "/var/other",
  };
  assert.deepEqual(await secrets(ENVIRONMENT, HOME, AWS), ["/home/me/.aws"]);
  assert.deepEqual(await secrets(ENVIRONMENT, env, AWS), [
    "/home/me/.aws",
    "/aws/credentials",
    "/work dir/config",
    "/var/token",
    "/var/other",
  ]);
});
