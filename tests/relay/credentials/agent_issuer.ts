import { AGENT_AUDIENCE, AGENT_ISSUER } from "../../../lib/relay/credentials/agent_jwt.ts";
import { base64Url, part } from "./tokens.ts";

const ALGORITHM = { name: "RSASSA-PKCS1-v1_5", hash: "SHA-256" };

/** Whoever gives agents their tokens. */
export class AgentIssuer {
  readonly #pair: CryptoKeyPair;

  private constructor(pair: CryptoKeyPair, readonly jwk: JsonWebKey & { readonly kid: string }) {
    this.#pair = pair;
  }

  static async create(kid = "key-1", modulusLength = 2048): Promise<AgentIssuer> {
    const publicExponent = Uint8Array.of(1, 0, 1);
    const parameters = { ...ALGORITHM, modulusLength, publicExponent };
    const pair = await crypto.subtle.generateKey(parameters, true, ["sign", "verify"]);
    const { n, e } = await crypto.subtle.exportKey("jwk", pair.publicKey);
    return new AgentIssuer(pair, { kty: "RSA", use: "sig", alg: "RS256", kid, n: n!, e: e! });
  }

  get jwks() {
    return { keys: [{ kty: "EC", kid: "other" }, this.jwk] };
  }

  async token(
    claims: Record<string, unknown>,
    header: Record<string, unknown> = { alg: "RS256", kid: this.jwk.kid },
  ): Promise<string> {
    const signed = `${part(header)}.${part(claims)}`;
    const bytes = new TextEncoder().encode(signed);
    const signature = await crypto.subtle.sign(ALGORITHM.name, this.#pair.privateKey, bytes);
    return `${signed}.${base64Url(new Uint8Array(signature))}`;
  }
}

/** All claims of a good token; the key's seed is 32 times the byte 7. */
export function agentClaims(nowSeconds: number): Record<string, unknown> {
  return {
    iss: AGENT_ISSUER,
    aud: AGENT_AUDIENCE,
    iat: nowSeconds - 10,
    exp: nowSeconds + 3600,
    agent_runtime_id: "runtime-1",
    agent_private_key: "MC4CAQAwBQYDK2VwBCIEIAcHBwcHBwcHBwcHBwcHBwcHBwcHBwcHBwcHBwcHBwcH",
    account_id: "acc-1",
    chatgpt_user_id: "user-1",
    email: "agent@example.com",
    plan_type: "pro",
    chatgpt_account_is_fedramp: false,
  };
}
