import { type Credential, CredentialError } from "../credential.ts";
import { type AgentClaims, BadAgentJwt, verifyAgentJwt } from "./agent_jwt.ts";
import { AgentKey } from "./agent_key.ts";
import { AgentTask } from "./agent_task.ts";
import { FEDRAMP_HEADER, isBearerToken } from "./bearer.ts";
import { exchange, ExchangeFailed, type Network } from "./http_exchange.ts";
import { type Claims, parseObject } from "./jwt_payload.ts";
import { JWKS_TIMEOUT_MS } from "./limits.ts";
import { type HostRule, requireTrustedRegistry } from "./registry_host.ts";

/** The services behind an Agent Identity. */
export interface AgentServices {
  /** Where its issuer publishes its keys. */
  readonly jwksUrl: string;
  /** Without a slash at its end. */
  readonly authBase: string;
}

export const AGENT_SERVICES: AgentServices = {
  jwksUrl: jwksUrl("https://chatgpt.com/backend-api"),
  authBase: "https://auth.openai.com/api/accounts",
};

const AGENT_RULE: HostRule = {
  domains: ["chatgpt.com", "chatgpt-staging.com", "openai.com", "openai.org"],
  refusal: "remote exec-server Agent Identity authentication is restricted to HTTPS chatgpt.com, openai.com and " +
    "openai.org hosts and subdomains or loopback hosts",
};

export interface AgentIdentityOptions {
  /** `CODEX_ACCESS_TOKEN`. */
  readonly token: string | undefined;
  readonly registryUrl: string;
  /** Further registries, see {@linkcode requireTrustedRegistry}. */
  readonly trusted: readonly string[];
  readonly network: Network;
  /** Milliseconds since 1970. */
  readonly now: () => number;
  readonly services: AgentServices;
}

/**
 * `--use-agent-identity-auth`: each request carries an assertion of its own, signed with the key that is in the token,
 * for a task that is registered before the first of them.
 *
 * @throws {CredentialError} The token is missing or no good, or the registry is not trusted with it.
 */
export async function agentIdentity(options: AgentIdentityOptions): Promise<Credential> {
  const { token, network, services, now } = options;
  if (!token?.trim()) {
    throw new CredentialError("CODEX_ACCESS_TOKEN is required when --use-agent-identity-auth is set");
  }
  requireTrustedRegistry(options.registryUrl, AGENT_RULE, options.trusted);
  const claims = await trustedClaims(token.trim(), options);
  const key = await agentKey(claims);
  const task = new AgentTask({ runtimeId: claims.runtimeId, key, authBase: services.authBase, network, now });
  return {
    headers: async (signal) => ({
      "authorization": await task.assertion(signal),
      "chatgpt-account-id": claims.accountId,
      ...(claims.isFedRamp ? FEDRAMP_HEADER : {}),
    }),
  };
}

/** Where an issuer's keys are, by the form of ChatGPT's address. */
export function jwksUrl(chatGptBase: string): string {
  const base = chatGptBase.replace(/\/+$/, "");
  if (base.includes("/backend-api")) return `${base}/wham/agent-identities/jwks`;
  return base.includes("/api/codex") ? `${base}/agent-identities/jwks` : `${base}/api/codex/agent-identities/jwks`;
}

async function trustedClaims(token: string, options: AgentIdentityOptions): Promise<AgentClaims> {
  // What is no JWT at all is not worth a request.
  if (!/^[\w-]+\.[\w-]+\.[\w-]+$/.test(token)) throw unavailable("CODEX_ACCESS_TOKEN is not a JWT");
  const jwks = await fetchJwks(options);
  try {
    const claims = await verifyAgentJwt(token, jwks, Math.floor(options.now() / 1000));
    if (isBearerToken(claims.accountId)) return claims;
  } catch (error) {
    if (error instanceof BadAgentJwt) throw unavailable(error.message);
    throw error;
  }
  throw unavailable("the account ID of CODEX_ACCESS_TOKEN holds characters that an HTTP header cannot carry");
}

async function fetchJwks({ network, services }: AgentIdentityOptions): Promise<Claims> {
  try {
    const { status, bytes } = await exchange(network, services.jwksUrl, { method: "GET" }, JWKS_TIMEOUT_MS);
    if (status < 200 || status > 299) throw unavailable(`the keys of its issuer were answered with status ${status}`);
    const jwks = parseObject(bytes);
    if (jwks === undefined) throw unavailable("the keys of its issuer are not a JSON object");
    return jwks;
  } catch (error) {
    if (!(error instanceof ExchangeFailed)) throw error;
    throw unavailable(`the keys of its issuer cannot be had: ${error.message}`);
  }
}

async function agentKey({ privateKey }: AgentClaims): Promise<AgentKey> {
  try {
    return await AgentKey.fromPkcs8(privateKey);
  } catch (error) {
    if (error instanceof DOMException || error instanceof SyntaxError) {
      throw unavailable("agent_private_key of CODEX_ACCESS_TOKEN is not a PKCS#8 Ed25519 key");
    }
    throw error;
  }
}

function unavailable(why: string): CredentialError {
  return new CredentialError(`Agent Identity authentication is unavailable: ${why}`);
}
