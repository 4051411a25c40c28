import { type Credential, CredentialError } from "../credential.ts";
import { bearerHeaders, fixedCredential, isBearerToken } from "./bearer.ts";
import { API_KEY_RULE, requireTrustedRegistry } from "./registry_host.ts";

/**
 * An API key, which goes to trusted registries only.
 *
 * @param source Where the key is from, for the complaint about it.
 * @param trusted Further hosts, see {@linkcode requireTrustedRegistry}.
 * @throws {CredentialError} The registry is not trusted, or the key is none.
 */
export function apiKey(key: string, source: string, registryUrl: string, trusted: readonly string[]): Credential {
  requireTrustedRegistry(registryUrl, API_KEY_RULE, trusted);
  if (!isBearerToken(key)) {
    throw new CredentialError(`the API key of ${source} holds characters that an HTTP header cannot carry`);
  }
  return fixedCredential(bearerHeaders(key));
}
