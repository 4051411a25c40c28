import assert from "node:assert/strict";
import { checkJwt, type JwtRules } from "../../lib/server/jwt.ts";

const SECRET = "0123456789abcdef0123456789abcdef";
const NOW_SECONDS = 1_800_000_000;
const encoder = new TextEncoder();

async function jwt(
  payload: unknown,
  options: { header?: unknown; secret?: string; hash?: string } = {},
): Promise<string> {
  const { header = { alg: "HS256", typ: "JWT" }, secret = SECRET, hash = "SHA-256" } = options;
  const part = (value: unknown) => base64url(encoder.encode(typeof value === "string" ? value : JSON.stringify(value)));
  const text = `${part(header)}.${part(payload)}`;
  const key = await crypto.subtle.importKey("raw", encoder.encode(secret), { name: "HMAC", hash }, false, ["sign"]);
  return `${text}.${base64url(new Uint8Array(await crypto.subtle.sign("HMAC", key, encoder.encode(text))))}`;
}

function base64url(bytes: Uint8Array): string {
  return bytes.toBase64({ alphabet: "base64url", omitPadding: true });
}

/** What a server with these rules says to each token. */
async function verdicts(
  rules: Partial<JwtRules>,
  tokens: Record<string, string | Promise<string>>,
): Promise<Record<string, string | undefined>> {
  const algorithm = { name: "HMAC", hash: "SHA-256" };
  const key = await crypto.subtle.importKey("raw", encoder.encode(SECRET), algorithm, false, ["verify"]);
  const complete: JwtRules = { key, issuer: null, audience: null, skewSeconds: 30n, ...rules };
  const answers: Record<string, string | undefined> = {};
  for (const [name, token] of Object.entries(tokens)) {
    answers[name] = await checkJwt(await token, complete, BigInt(NOW_SECONDS));
  }
  return answers;
}

const INVALID = "invalid websocket jwt";
const EXPIRED = "expired websocket jwt";
const TOO_EARLY = "websocket jwt is not valid yet";
const ISSUER = "websocket jwt issuer mismatch";
const AUDIENCE = "websocket jwt audience mismatch";

async function expectAll(expected: string, tokens: Record<string, string | Promise<string>>): Promise<void> {
  for (const [name, verdict] of Object.entries(await verdicts({}, tokens))) assert.equal(verdict, expected, name);
}

Deno.test("checkJwt lets a token pass from thirty seconds before nbf until thirty seconds after exp", async () => {
  const exp = NOW_SECONDS + 60;
  assert.deepEqual(
    await verdicts({}, {
      "exp in a minute": jwt({ exp }),
      "exp at the edge": jwt({ exp: NOW_SECONDS - 30 }),
      "exp past the edge": jwt({ exp: NOW_SECONDS - 31 }),
      "exp before time": jwt({ exp: -1 }),
      "exp at the end of time": jwt('{"exp":9223372036854775807}'),
      "nbf at the edge": jwt({ exp, nbf: NOW_SECONDS + 30 }),
      "nbf before the edge": jwt({ exp, nbf: NOW_SECONDS + 31 }),
      "nbf null": jwt({ exp, nbf: null }),
      "nbf at the beginning of time": jwt('{"exp":9223372036854775807,"nbf":-9223372036854775808}'),
      "expired and too early": jwt({ exp: 0, nbf: NOW_SECONDS + 60 }),
    }),
    {
      "exp in a minute": undefined,
      "exp at the edge": undefined,
      "exp past the edge": EXPIRED,
      "exp before time": EXPIRED,
      "exp at the end of time": undefined,
      "nbf at the edge": undefined,
      "nbf before the edge": TOO_EARLY,
      "nbf null": undefined,
      "nbf at the beginning of time": undefined,
      "expired and too early": EXPIRED,
    },
  );
  assert.deepEqual(
    await verdicts({ skewSeconds: 2n ** 63n - 1n }, {
      "long ago": jwt({ exp: -1 }),
      "before that": jwt('{"exp":-9223372036854775808}'),
      "far ahead": jwt('{"exp":1,"nbf":9223372036854775807}'),
    }),
    { "long ago": undefined, "before that": EXPIRED, "far ahead": undefined },
  );
  assert.deepEqual(await verdicts({ skewSeconds: 0n }, { "one late": jwt({ exp: NOW_SECONDS - 1 }) }), {
    "one late": EXPIRED,
  });
});

Deno.test("checkJwt wants exp, and times that are plain 64-bit integers", async () => {
  const exp = NOW_SECONDS + 60;
  await expectAll(INVALID, {
    "no exp": jwt({}),
    "exp null": jwt({ exp: null }),
    "exp text": jwt({ exp: String(exp) }),
    "exp fraction": jwt(`{"exp":${exp}.0}`),
    "exp exponent": jwt('{"exp":1e10}'),
    "exp too large": jwt('{"exp":9223372036854775808}'),
    "exp too small": jwt('{"exp":-9223372036854775809}'),
    "exp inherited": jwt(`{"__proto__":{"exp":${exp}}}`),
    "nbf text": jwt({ exp, nbf: "x" }),
    "nbf fraction": jwt({ exp, nbf: 1.5 }),
    "nbf too large": jwt(`{"exp":${exp},"nbf":18446744073709551615}`),
  });
});

Deno.test("checkJwt wants the issuer and the audience that are configured", async () => {
  const exp = NOW_SECONDS + 60;
  const tokens = {
    "neither": jwt({ exp }),
    "nulls": jwt({ exp, iss: null, aud: null }),
    "wrong issuer": jwt({ exp, iss: "you", aud: "us" }),
    "no audience": jwt({ exp, iss: "me" }),
    "wrong audience": jwt({ exp, iss: "me", aud: "them" }),
    "empty audience": jwt({ exp, iss: "me", aud: [] }),
    "both": jwt({ exp, iss: "me", aud: "us" }),
    "among others": jwt({ exp, iss: "me", aud: ["them", "us"] }),
    "too early": jwt({ exp, nbf: exp, iss: "you" }),
  };
  assert.deepEqual(await verdicts({ issuer: "me", audience: "us" }, tokens), {
    "neither": ISSUER,
    "nulls": ISSUER,
    "wrong issuer": ISSUER,
    "no audience": AUDIENCE,
    "wrong audience": AUDIENCE,
    "empty audience": AUDIENCE,
    "both": undefined,
    "among others": undefined,
    "too early": TOO_EARLY,
  });
  const { "too early": _, ...timely } = tokens;
  for (const [name, verdict] of Object.entries(await verdicts({}, timely))) assert.equal(verdict, undefined, name);
});

Deno.test("checkJwt wants issuer and audience well-formed even if none is configured", async () => {
  const exp = NOW_SECONDS + 60;
  await expectAll(INVALID, {
    "iss number": jwt({ exp, iss: 3 }),
    "iss array": jwt({ exp, iss: ["me"] }),
    "iss twice": jwt(`{"exp":${exp},"iss":"me","iss":"me"}`),
    "aud number": jwt({ exp, aud: 3 }),
    "aud object": jwt({ exp, aud: {} }),
    "aud of numbers": jwt({ exp, aud: ["us", 1] }),
  });
});

Deno.test("checkJwt takes HS256 and nothing else", async () => {
  const payload = { exp: NOW_SECONDS + 60 };
  await expectAll(INVALID, {
    "other secret": jwt(payload, { secret: "x".repeat(32) }),
    "secret with its newline": jwt(payload, { secret: `${SECRET}\n` }),
    "HS512": jwt(payload, { header: { alg: "HS512" }, hash: "SHA-512" }),
    "none": jwt(payload, { header: { alg: "none" } }),
    "lower case": jwt(payload, { header: { alg: "hs256" } }),
    "no algorithm": jwt(payload, { header: { typ: "JWT" } }),
    "array of algorithms": jwt(payload, { header: { alg: ["HS256"] } }),
    "header array": jwt(payload, { header: [] }),
    "header with garbage": jwt(payload, { header: '{"alg":"HS256"}x' }),
    "typ number": jwt(payload, { header: { alg: "HS256", typ: 1 } }),
    "kid number": jwt(payload, { header: { alg: "HS256", kid: 1 } }),
    "x5c number": jwt(payload, { header: { alg: "HS256", x5c: 1 } }),
    "jwk number": jwt(payload, { header: { alg: "HS256", jwk: 1 } }),
  });
  const good = await verdicts({}, {
    "no typ": jwt(payload, { header: { alg: "HS256" } }),
    "other members": jwt(payload, { header: { alg: "HS256", typ: null, kid: "k", x: { y: [1] } } }),
    "blanks": jwt(`  {"exp":${payload.exp}}\n`),
    "other claims": jwt({ ...payload, iat: "x", sub: 3 }),
  });
  for (const [name, verdict] of Object.entries(good)) assert.equal(verdict, undefined, name);
});

Deno.test("checkJwt wants three parts in base64url without padding, written in the one way", async () => {
  const good = await jwt({ exp: NOW_SECONDS + 60 });
  const [header, payload, signature] = good.split(".") as [string, string, string];
  const digits = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";
  const otherEnd = signature.slice(0, -1) + digits[digits.indexOf(signature.at(-1)!) + 1];
  await expectAll(INVALID, {
    "no dots": "garbage",
    "only dots": "..",
    "two parts": `${header}.${payload}`,
    "four parts": `${good}.x`,
    "a last dot": `${good}.`,
    "padding": `${header}.${payload}.${signature}=`,
    "no signature": `${header}.${payload}.`,
    "half a signature": `${header}.${payload}.${signature.slice(0, 22)}`,
    "bits that mean nothing": `${header}.${payload}.${otherEnd}`,
    "white space": `${header}. ${payload}.${signature}`,
    "payload array": jwt(`[${NOW_SECONDS + 60}]`),
    "payload with garbage": jwt(`{"exp":${NOW_SECONDS + 60}}x`),
    "payload with a byte order mark": jwt(`\ufeff{"exp":${NOW_SECONDS + 60}}`),
  });
  assert.deepEqual(await verdicts({}, { good }), { good: undefined });
});
