import { HeaderMap } from "./header_map.ts";
import { textToBytes } from "./bytes.ts";
import { isChunked } from "./body.ts";
import type { Proxy } from "./proxy.ts";

/** A request as it is asked for. */
export interface HttpRequest {
  readonly method: string;
  /** Of scheme `http:` or `https:`. */
  readonly url: URL;
  /** Without those that are added to every request. */
  readonly headers: HeaderMap;
  readonly body: Uint8Array<ArrayBuffer>;
}

/** The bytes of one request, head and body apart. */
export interface RequestBytes {
  readonly head: Uint8Array<ArrayBuffer>;
  readonly body: Uint8Array<ArrayBuffer>;
  /** Whether the headers leave the connection open behind it. */
  readonly persistent: boolean;
}

/**
 * The request as it leaves: the caller's headers, then `accept`, `accept-encoding`, `host` and `content-length` where
 * the caller set none, as the reference does.
 *
 * @param proxy The proxy that gets to read it, if one does.
 * @param acceptEncoding The codings that can be taken off again.
 * @throws {RangeError} If the caller's `content-length` promises more than there is.
 */
export function requestBytes(request: HttpRequest, proxy: Proxy | undefined, acceptEncoding: string): RequestBytes {
  const { url, body } = request;
  const headers = HeaderMap.from(request.headers);
  headers.appendUnlessThere("accept", "*/*");
  if (proxy?.authorization !== undefined) headers.appendUnlessThere("proxy-authorization", proxy.authorization);
  headers.appendUnlessThere("accept-encoding", acceptEncoding);
  headers.appendUnlessThere("host", url.host);
  const framed = frameBody(headers, body);
  const persistent = !saysClose(headers);
  if (!persistent) headers.set("connection", "close");
  let head = `${request.method} ${target(request, proxy !== undefined)} HTTP/1.1\r\n`;
  for (const [name, value] of headers) head += `${name}: ${value}\r\n`;
  return { head: textToBytes(`${head}\r\n`), body: framed, persistent };
}

/** What the first line names (RFC 9112 3.2): a proxy is told the host as well. */
function target({ method, url }: HttpRequest, toProxy: boolean): string {
  if (method === "CONNECT") return url.host;
  return `${toProxy ? url.origin : ""}${url.pathname}${url.search}`;
}

/** Whether the connection is to end behind this message. */
export function saysClose(headers: HeaderMap): boolean {
  return headers.all("connection").some((value) => /(?:^|,)[\t ]*close[\t ]*(?:,|$)/i.test(value));
}

/** Sets the headers that tell where the body ends, and returns the body with what that needs around it. */
function frameBody(headers: HeaderMap, body: Uint8Array<ArrayBuffer>): Uint8Array<ArrayBuffer> {
  const codings = headers.all("transfer-encoding");
  if (codings.length > 0) {
    // Both would be two opinions on where the body ends (RFC 9112 6.3).
    headers.remove("content-length");
    if (body.length === 0) {
      headers.remove("transfer-encoding");
      return body;
    }
    if (!isChunked(codings)) headers.amendLast("transfer-encoding", ", chunked");
    return asOneChunk(body);
  }
  const declared = declaredLength(headers);
  if (declared === undefined) {
    if (body.length > 0) headers.set("content-length", String(body.length));
    else headers.remove("content-length");
    return body;
  }
  if (declared > body.length) throw new RangeError("a content length that is longer than the body");
  return body.subarray(0, declared);
}

/** What the caller says of the length; undefined if that is nothing, no number, or several. */
function declaredLength(headers: HeaderMap): number | undefined {
  const lengths = new Set(headers.all("content-length"));
  const [length] = lengths;
  return lengths.size === 1 && /^\d{1,15}$/.test(length!) ? Number(length) : undefined;
}

function asOneChunk(body: Uint8Array<ArrayBuffer>): Uint8Array<ArrayBuffer> {
  const before = textToBytes(`${body.length.toString(16).toUpperCase()}\r\n`);
  const after = textToBytes("\r\n0\r\n\r\n");
  const bytes = new Uint8Array(before.length + body.length + after.length);
  bytes.set(before);
  bytes.set(body, before.length);
  bytes.set(after, before.length + body.length);
  return bytes;
}
