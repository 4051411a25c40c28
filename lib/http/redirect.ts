import { HeaderMap } from "./header_map.ts";
import type { HttpRequest } from "./request_head.ts";

/** Most redirects that are followed for one request. Source: asked of the reference. */
export const MAX_REDIRECTS = 10;

const REDIRECTS: ReadonlySet<number> = new Set([301, 302, 303, 307, 308]);
/** What describes a body, and goes with it. */
const BODY_HEADERS = ["content-type", "content-length", "content-encoding", "transfer-encoding"];
/** What is meant for one host alone. */
const SECRET_HEADERS = ["authorization", "cookie", "proxy-authorization", "www-authenticate", "cookie2"];

/** Where a response points to, if it is a redirect that can be followed; any scheme, no user and no password. */
export function redirectTarget(from: URL, status: number, headers: HeaderMap): URL | undefined {
  const location = headers.first("location");
  // Browsers guess what was meant by bytes that are not ASCII; the reference does not.
  if (!REDIRECTS.has(status) || location === undefined || !/^[\t\x20-\x7e]*$/.test(location)) return undefined;
  if (!URL.canParse(location, from)) return undefined;
  const target = new URL(location, from);
  target.username = "";
  target.password = "";
  return target;
}

/** The request that follows a redirect, as the reference makes it of the one before. */
export function redirected(request: HttpRequest, status: number, target: URL): HttpRequest {
  const headers = HeaderMap.from(request.headers);
  const becomesGet = status === 303 || (request.method === "POST" && (status === 301 || status === 302));
  if (becomesGet) { for (const name of BODY_HEADERS) headers.remove(name); }
  const { url } = request;
  // `host` holds the port as well, unless it is that of the scheme, and then the schemes differ.
  const samePlace = url.host === target.host && url.protocol === target.protocol;
  if (!samePlace) { for (const name of SECRET_HEADERS) headers.remove(name); }
  headers.remove("referer");
  const referer = refererOf(url, target);
  if (referer !== undefined) headers.append("referer", referer);
  return {
    method: becomesGet && request.method !== "HEAD" ? "GET" : request.method,
    url: target,
    headers,
    body: becomesGet ? new Uint8Array() : request.body,
  };
}

/** As by the policy `strict-origin-when-cross-origin`. */
function refererOf(from: URL, to: URL): string | undefined {
  if (from.protocol === "https:" && to.protocol === "http:") return undefined;
  if (from.origin !== to.origin) return `${from.origin}/`;
  const bare = new URL(from);
  bare.username = "";
  bare.password = "";
  bare.hash = "";
  return bare.href;
}
