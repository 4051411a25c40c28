import { type Json, JsonNumber, JsonSyntaxError, parseJson } from "../json.ts";

/** What a token must satisfy. */
export interface JwtRules {
  /** HMAC-SHA-256 key for verifying. */
  readonly key: CryptoKey;
  /** Null: not looked at. */
  readonly issuer: string | null;
  readonly audience: string | null;
  /** At most 2^63 - 1. */
  readonly skewSeconds: bigint;
}

interface Claims {
  readonly exp: bigint;
  readonly nbf: bigint | undefined;
  readonly iss: string | undefined;
  readonly aud: readonly string[];
}

/** Something about the token is not as it must be; which thing is nobody's business. */
class InvalidJwt extends Error {}

const SMALLEST_I64 = -(2n ** 63n);
const LARGEST_I64 = 2n ** 63n - 1n;

/** Members of the header that must be a text, if they are there at all. */
const HEADER_TEXTS = ["typ", "cty", "jku", "kid", "x5u", "x5t", "x5t#S256"];

/**
 * Checks a compact JWT signed with HS256; the order of the checks is the reference's. Stricter than the
 * reference with JSON that no issuer writes: members that repeat, lone surrogates, more than 127 levels.
 *
 * @param nowSeconds Since 1970.
 * @returns undefined if all is well, otherwise the refusal in the reference's words.
 */
export async function checkJwt(token: string, rules: JwtRules, nowSeconds: bigint): Promise<string | undefined> {
  let claims: Claims;
  try {
    claims = await verifiedClaims(token, rules.key);
  } catch (error) {
    if (error instanceof InvalidJwt || error instanceof JsonSyntaxError) return "invalid websocket jwt";
    throw error;
  }
  const { exp, nbf, iss, aud } = claims;
  if (nowSeconds > min(exp + rules.skewSeconds, LARGEST_I64)) return "expired websocket jwt";
  if (nbf !== undefined && nowSeconds < nbf - rules.skewSeconds) return "websocket jwt is not valid yet";
  if (rules.issuer !== null && iss !== rules.issuer) return "websocket jwt issuer mismatch";
  if (rules.audience !== null && !aud.includes(rules.audience)) return "websocket jwt audience mismatch";
  return undefined;
}

async function verifiedClaims(token: string, key: CryptoKey): Promise<Claims> {
  const [header, payload, signature, ...more] = token.split(".");
  if (header === undefined || payload === undefined || signature === undefined || more.length > 0) {
    throw new InvalidJwt();
  }
  requireHs256(header);
  const signed = new TextEncoder().encode(`${header}.${payload}`);
  if (!await crypto.subtle.verify("HMAC", key, fromBase64Url(signature), signed)) throw new InvalidJwt();
  const members = parseObject(payload);
  return {
    exp: integer(members.get("exp")) ?? invalid(),
    nbf: integer(members.get("nbf")),
    iss: text(members.get("iss")),
    aud: texts(members.get("aud")),
  };
}

function requireHs256(header: string): void {
  const members = parseObject(header);
  for (const name of HEADER_TEXTS) text(members.get(name));
  for (const certificate of asArray(members.get("x5c"))) text(certificate);
  const jwk = members.get("jwk") ?? null;
  if (members.get("alg") !== "HS256" || !(jwk === null || jwk instanceof Map)) throw new InvalidJwt();
}

function parseObject(part: string): ReadonlyMap<string, Json> {
  const json = parseJson(new TextDecoder("utf-8", { ignoreBOM: true }).decode(fromBase64Url(part)));
  return json instanceof Map ? json : invalid();
}

/** Base64url without padding, and in the one way in which the bytes can be written. */
function fromBase64Url(text: string): Uint8Array<ArrayBuffer> {
  if (!/^[\w-]*$/.test(text) || text.length % 4 === 1) throw new InvalidJwt();
  const bytes = Uint8Array.fromBase64(text, { alphabet: "base64url" });
  return bytes.toBase64({ alphabet: "base64url", omitPadding: true }) === text ? bytes : invalid();
}

/** A signed 64-bit integer in plain digits; undefined if there is none. */
function integer(json: Json | undefined): bigint | undefined {
  if (json === undefined || json === null) return undefined;
  if (!(json instanceof JsonNumber) || !/^(-?[1-9]\d*|0)$/.test(json.text)) throw new InvalidJwt();
  const value = BigInt(json.text);
  return value >= SMALLEST_I64 && value <= LARGEST_I64 ? value : invalid();
}

function text(json: Json | undefined): string | undefined {
  if (json === undefined || json === null) return undefined;
  return typeof json === "string" ? json : invalid();
}

/** One text, or an array of them. */
function texts(json: Json | undefined): string[] {
  if (typeof json === "string") return [json];
  return asArray(json).map((item) => typeof item === "string" ? item : invalid());
}

function asArray(json: Json | undefined): readonly Json[] {
  if (json === undefined || json === null) return [];
  return Array.isArray(json) ? json : invalid();
}

function min(a: bigint, b: bigint): bigint {
  return a < b ? a : b;
}

function invalid(): never {
  throw new InvalidJwt();
}
