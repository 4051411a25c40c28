import type { JsonObject } from "../../json.ts";
import { type Credential, CredentialError } from "../credential.ts";
import { apiKey } from "./api_key.ts";
import { authFile, type AuthStore } from "./auth_file.ts";
import { authFilePath } from "./auth_file_path.ts";
import { ChatGptSignIn } from "./chatgpt_sign_in.ts";
import type { CredentialWorld } from "./credential_world.ts";
import { type SignInMethod, signInMethod } from "./sign_in_tokens.ts";
import { UnusableFile } from "./small_file.ts";
import { TOKEN_ENDPOINT } from "./token_endpoint.ts";

const NOTHING = "remote exec-server registration requires ChatGPT authentication or API key authentication; " +
  "run `codex login` or set CODEX_API_KEY";
const ENDPOINT_VARIABLE = "CODEX_REFRESH_TOKEN_URL_OVERRIDE";

/**
 * What is there without being asked for: `CODEX_API_KEY`, else what `auth.json` in `CODEX_HOME` holds.
 *
 * @param trusted Further hosts for an API key, as `parseTrustedHost` gives them.
 * @throws {CredentialError} Nothing is there, or it is not for this registry.
 */
export async function environmentCredential(world: CredentialWorld, trusted: readonly string[]): Promise<Credential> {
  const { env, registry, now, warn } = world;
  const key = env("CODEX_API_KEY")?.trim();
  if (key) return apiKey(key, "CODEX_API_KEY", registry, trusted);
  const path = authFilePath(env);
  if (path === undefined) throw new CredentialError(NOTHING);
  const store = authFile(path);
  const method = await storedMethod(store);
  switch (method.kind) {
    case "none":
      throw new CredentialError(NOTHING);
    case "api key":
      return apiKey(method.key, path, registry, trusted);
    case "chatgpt":
      return new ChatGptSignIn({
        store,
        tokens: method.tokens,
        network: world,
        tokenEndpoint: tokenEndpoint(env(ENDPOINT_VARIABLE)),
        now,
        warn,
      });
  }
}

async function storedMethod(store: AuthStore): Promise<SignInMethod> {
  let file: JsonObject | undefined;
  try {
    file = await store.read();
  } catch (error) {
    if (!(error instanceof UnusableFile)) throw error;
    throw new CredentialError(`${NOTHING} (cannot use ${store.path}: ${error.message})`, false, { cause: error.cause });
  }
  return file === undefined ? { kind: "none" } : signInMethod(file);
}

function tokenEndpoint(override: string | undefined): string {
  if (!override?.trim()) return TOKEN_ENDPOINT;
  const { protocol } = URL.parse(override) ?? {};
  if (protocol !== "https:" && protocol !== "http:") {
    throw new CredentialError(`${ENDPOINT_VARIABLE} must be an http:// or https:// URL`);
  }
  return override.trim();
}
