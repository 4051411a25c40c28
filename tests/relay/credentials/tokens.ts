import type { JsonObject } from "../../../lib/json.ts";
import { parseJson } from "../../../lib/json.ts";

/** A JWT whose signature nobody checks. */
export function unsignedJwt(claims: Record<string, unknown>): string {
  return `${part({ alg: "RS256", typ: "JWT" })}.${part(claims)}.c2ln`;
}

export function part(json: unknown): string {
  return base64Url(new TextEncoder().encode(JSON.stringify(json)));
}

export function base64Url(bytes: Uint8Array): string {
  return bytes.toBase64({ alphabet: "base64url", omitPadding: true });
}

/** ChatGPT's claim of an account. */
export function accountClaim(accountId: string) {
  return { "https://api.openai.com/auth": { chatgpt_account_id: accountId } };
}

/** Members as `auth.json` holds them. */
export function members(json: unknown): JsonObject {
  const parsed = parseJson(JSON.stringify(json));
  if (!(parsed instanceof Map)) throw new TypeError("not an object");
  return parsed;
}
