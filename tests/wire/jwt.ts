import { SHARED_SECRET } from "./workspace.ts";

const ISSUED_AHEAD_SECONDS = 60;

/**
 * A signed token as a recording describes it, e.g. `HS256 exp=now-20`.
 *
 * @throws If the description has an unknown word.
 */
export async function makeJwt(description: string): Promise<string> {
  const now = Math.floor(Date.now() / 1000);
  const claims: Record<string, unknown> = { exp: now + ISSUED_AHEAD_SECONDS };
  const [algorithm, ...rest] = description.split(" ");
  const detail = rest.join(" ");
  const time = /^(exp|nbf)=now([+-]\d+)$/.exec(detail);
  let secret = SHARED_SECRET;
  if (time !== null) claims[time[1]!] = now + Number(time[2]);
  else if (detail === "without exp") delete claims["exp"];
  else if (detail === "exp as string") claims["exp"] = String(claims["exp"]);
  else if (detail === "wrong secret") secret = "f".repeat(32);
  else if (detail === "with iss and aud, none configured") Object.assign(claims, { iss: "someone", aud: "anyone" });
  else if (detail !== "") throw new Error(`unknown token description ${JSON.stringify(description)}`);
  return await sign({ alg: algorithm, typ: "JWT" }, claims, secret, algorithm === "HS512" ? "SHA-512" : "SHA-256");
}

async function sign(header: unknown, claims: unknown, secret: string, hash: string): Promise<string> {
  const bytes = (text: string) => new TextEncoder().encode(text);
  const encode = (value: Uint8Array) => value.toBase64({ alphabet: "base64url", omitPadding: true });
  const content = `${encode(bytes(JSON.stringify(header)))}.${encode(bytes(JSON.stringify(claims)))}`;
  const key = await crypto.subtle.importKey("raw", bytes(secret), { name: "HMAC", hash }, false, ["sign"]);
  return `${content}.${encode(new Uint8Array(await crypto.subtle.sign("HMAC", key, bytes(content))))}`;
}
