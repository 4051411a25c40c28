import type { SignedRequest } from "../credential.ts";

/** What AWS knows somebody by. Secrets but for the first. */
export interface AwsCredentials {
  readonly accessKeyId: string;
  readonly secretAccessKey: string;
  readonly sessionToken?: string | undefined;
}

/** For what a signature is good. */
export interface SigningScope {
  /** E.g. `us-east-1`. */
  readonly region: string;
  /** E.g. `execute-api`. */
  readonly service: string;
}

const ALGORITHM = "AWS4-HMAC-SHA256";

/**
 * AWS Signature Version 4 of a request: `authorization`, `x-amz-date` and, with temporary credentials,
 * `x-amz-security-token`. What is signed are the method, path, query, body, `host` and the headers that are given.
 *
 * @param at The time of the signature; AWS accepts it for a few minutes.
 */
export async function sigV4Headers(
  request: SignedRequest,
  credentials: AwsCredentials,
  { region, service }: SigningScope,
  at: Date,
): Promise<Record<string, string>> {
  const time = at.toISOString().replaceAll(/[:-]|\.\d+/g, "");
  const date = time.slice(0, 8);
  const { sessionToken } = credentials;
  const added = {
    "x-amz-date": time,
    ...(sessionToken === undefined ? {} : { "x-amz-security-token": sessionToken }),
  };
  const { text, signedHeaders } = await canonicalRequest(request, { ...request.headers, ...added });
  const scope = `${date}/${region}/${service}/aws4_request`;
  const toSign = [ALGORITHM, time, scope, await sha256(encode(text))].join("\n");
  let key = encode(`AWS4${credentials.secretAccessKey}`);
  for (const part of [date, region, service, "aws4_request", toSign]) key = await hmac(key, part);
  const credential = `Credential=${credentials.accessKeyId}/${scope}`;
  return {
    ...added,
    "authorization": `${ALGORITHM} ${credential}, SignedHeaders=${signedHeaders}, Signature=${key.toHex()}`,
  };
}

async function canonicalRequest(
  { method, url, body }: SignedRequest,
  headers: Readonly<Record<string, string>>,
): Promise<{ readonly text: string; readonly signedHeaders: string }> {
  const { host, path, query } = partsOf(url);
  const signed = Object.entries({ ...headers, host }).sort(([a], [b]) => compare(a, b));
  const signedHeaders = signed.map(([name]) => name).join(";");
  const text = [
    method,
    canonicalPath(path),
    canonicalQuery(query),
    ...signed.map(([name, value]) => `${name}:${value.trim().replaceAll(/ +/g, " ")}`),
    "",
    signedHeaders,
    await sha256(body),
  ].join("\n");
  return { text, signedHeaders };
}

/** Path and query as they are sent: the URL parser would write some characters in another way. */
function partsOf(url: string): { readonly host: string; readonly path: string; readonly query: string } {
  const [, path = "", query = ""] = /^[a-z]+:\/\/[^/?#]*([^?#]*)\??([^#]*)/i.exec(url) ?? [];
  return { host: new URL(url).host, path, query };
}

/** Without `.`, `..` and empty segments, and escaped once more than it is sent: so for every service but S3. */
function canonicalPath(path: string): string {
  const segments: string[] = [];
  for (const segment of path.split("/")) {
    if (segment === "..") segments.pop();
    else if (segment !== "" && segment !== ".") segments.push(escape(segment));
  }
  const end = segments.length > 0 && path.endsWith("/") ? "/" : "";
  return `/${segments.join("/")}${end}`;
}

/** Sorted by the escaped names, then by the escaped values. A plus sign is a space. */
function canonicalQuery(query: string): string {
  const pairs = [...new URLSearchParams(query)].map(([name, value]) => [escape(name), escape(value)] as const);
  pairs.sort(([a, x], [b, y]) => compare(a, b) || compare(x, y));
  return pairs.map(([name, value]) => `${name}=${value}`).join("&");
}

/** Everything but letters, digits, `-`, `.`, `_` and `~`. */
function escape(text: string): string {
  return encodeURIComponent(text).replaceAll(/[!'()*]/g, (char) => `%${char.charCodeAt(0).toString(16).toUpperCase()}`);
}

/** ASCII has the same order in bytes and in units of UTF-16. */
function compare(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0;
}

function encode(text: string): Uint8Array<ArrayBuffer> {
  return new TextEncoder().encode(text);
}

async function sha256(bytes: Uint8Array<ArrayBuffer>): Promise<string> {
  return new Uint8Array(await crypto.subtle.digest("SHA-256", bytes)).toHex();
}

async function hmac(key: Uint8Array<ArrayBuffer>, text: string): Promise<Uint8Array<ArrayBuffer>> {
  const imported = await crypto.subtle.importKey("raw", key, { name: "HMAC", hash: "SHA-256" }, false, ["sign"]);
  return new Uint8Array(await crypto.subtle.sign("HMAC", imported, encode(text)));
}
