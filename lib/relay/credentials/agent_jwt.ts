import {
  asObject,
  type Claims,
  expirySeconds,
  flagMember,
  fromBase64Url,
  parseObject,
  textMember,
} from "./jwt_payload.ts";

export const AGENT_ISSUER = "https://chatgpt.com/codex-backend/agent-identity";
export const AGENT_AUDIENCE = "codex-app-server";
/** Tolerated difference between the clocks, in seconds. Source: the default of the reference's library. */
const LEEWAY_S = 60;
/** Shorter moduli can be factored: 2048 bits, as the reference's library wants. */
const MIN_MODULUS_BYTES = 256;

export interface AgentClaims {
  readonly runtimeId: string;
  /** Base64 of a PKCS#8 Ed25519 key. */
  readonly privateKey: string;
  readonly accountId: string;
  /** Of the US government's own service. */
  readonly isFedRamp: boolean;
}

/** The token is no good; the message says why, without anything of what it holds. */
export class BadAgentJwt extends Error {
  override readonly name = "BadAgentJwt";
}

/**
 * Verifies an Agent Identity token (RS256).
 *
 * @param jwks The keys of its issuer.
 * @throws {BadAgentJwt}
 */
export async function verifyAgentJwt(token: string, jwks: Claims, nowSeconds: number): Promise<AgentClaims> {
  const parts = token.split(".");
  const [header, payload, signature] = parts.map(fromBase64Url);
  if (parts.length !== 3 || header === undefined || payload === undefined || signature === undefined) {
    throw new BadAgentJwt("CODEX_ACCESS_TOKEN is not a JWT");
  }
  const key = await verificationKey(parseObject(header), jwks);
  const signed = new TextEncoder().encode(`${parts[0]}.${parts[1]}`);
  if (!await crypto.subtle.verify("RSASSA-PKCS1-v1_5", key, signature, signed)) {
    throw new BadAgentJwt("the signature of CODEX_ACCESS_TOKEN is not its issuer's");
  }
  return checkedClaims(parseObject(payload), nowSeconds);
}

async function verificationKey(header: Claims | undefined, jwks: Claims): Promise<CryptoKey> {
  const kid = textMember(header, "kid");
  if (textMember(header, "alg") !== "RS256" || kid === undefined) {
    throw new BadAgentJwt("CODEX_ACCESS_TOKEN is not signed with RS256 and a named key");
  }
  const keys = Object.hasOwn(jwks, "keys") && Array.isArray(jwks["keys"]) ? jwks["keys"].map(asObject) : [];
  const jwk = keys.find((key) => textMember(key, "kid") === kid);
  if (jwk === undefined) throw new BadAgentJwt("the key that signed CODEX_ACCESS_TOKEN is not its issuer's");
  const n = textMember(jwk, "n");
  const e = textMember(jwk, "e");
  const modulus = n === undefined ? undefined : fromBase64Url(n);
  const isFit = textMember(jwk, "kty") === "RSA" && (textMember(jwk, "alg") ?? "RS256") === "RS256" &&
    (textMember(jwk, "use") ?? "sig") === "sig" && modulus !== undefined && modulus.length >= MIN_MODULUS_BYTES;
  if (!isFit || n === undefined || e === undefined) {
    throw new BadAgentJwt("the key that signed CODEX_ACCESS_TOKEN is not an RSA key of 2048 bits for signatures");
  }
  const algorithm = { name: "RSASSA-PKCS1-v1_5", hash: "SHA-256" };
  return await crypto.subtle.importKey("jwk", { kty: "RSA", n, e }, algorithm, false, ["verify"]);
}

function checkedClaims(claims: Claims | undefined, nowSeconds: number): AgentClaims {
  const expiry = expirySeconds(claims);
  if (expiry === undefined || expiry + LEEWAY_S < nowSeconds) throw new BadAgentJwt("CODEX_ACCESS_TOKEN has expired");
  if (textMember(claims, "iss") !== AGENT_ISSUER || !audiences(claims).includes(AGENT_AUDIENCE)) {
    throw new BadAgentJwt("CODEX_ACCESS_TOKEN is not an Agent Identity token");
  }
  const required = (name: string): string => {
    const value = textMember(claims, name);
    if (value === undefined) throw new BadAgentJwt(`CODEX_ACCESS_TOKEN has no claim ${name}`);
    return value;
  };
  return {
    runtimeId: required("agent_runtime_id"),
    privateKey: required("agent_private_key"),
    accountId: required("account_id"),
    isFedRamp: flagMember(claims, "chatgpt_account_is_fedramp"),
  };
}

function audiences(claims: Claims | undefined): unknown[] {
  const aud = claims !== undefined && Object.hasOwn(claims, "aud") ? claims["aud"] : undefined;
  return Array.isArray(aud) ? aud : [aud];
}
