import type { Params } from "../protocol/methods.ts";
import { abortable } from "../abortable.ts";
import { httpError } from "./client_error.ts";
import { collected } from "./collected.ts";
import type { FetchInit } from "./fetch.ts";

/** What of `http/request` one call of `fetch` determines. */
export type HttpAsk = Omit<Params<"http/request">, "requestId" | "streamResponse">;

export interface WebRequest {
  readonly ask: HttpAsk;
  readonly redirect: "follow" | "manual" | "error";
  readonly signal: AbortSignal | undefined;
}

/**
 * What is asked for, in the wire's terms. Headers keep their order and their case; several of one name stay several,
 * unless they come in a `Headers`. A body is read to its end first: the wire has no streams towards the server.
 *
 * @param maxBodyBytes Most bytes of a body.
 * @param ended Aborted when nothing can be sent any more: a body is not waited for then.
 * @throws {TypeError} As `fetch`, for a URL that is none, or a `Request` whose body has been read.
 * @throws {RangeError} For a time limit that is none.
 * @throws {ClientError} `http`: the body is too long. Or the signal's reason.
 */
export async function readRequest(
  input: string | URL | Request,
  init: FetchInit,
  maxBodyBytes: number,
  ended: AbortSignal,
): Promise<WebRequest> {
  const request = input instanceof Request ? input : undefined;
  const signal = (init.signal === undefined ? request?.signal : init.signal) ?? undefined;
  signal?.throwIfAborted();
  const url = new URL(request?.url ?? input as string | URL).href;
  const timeoutMs = init.timeoutMs ?? null;
  if (timeoutMs !== null && !(Number.isSafeInteger(timeoutMs) && timeoutMs >= 0)) {
    throw new RangeError(`timeoutMs must be a number of whole milliseconds, not ${timeoutMs}`);
  }
  const redirect = init.redirect ?? request?.redirect ?? "follow";
  const headers = headerList(init.headers ?? request?.headers);
  const stop = signal === undefined ? ended : AbortSignal.any([signal, ended]);
  const { bytes, type } = await abortable(readBody(request, init, maxBodyBytes, stop), stop);
  if (type !== null && !has(headers, "content-type")) {
    headers.push({ name: "content-type", value: type, valueEnvVar: null });
  }
  return {
    ask: {
      method: upperCased(init.method ?? request?.method ?? "GET"),
      url,
      headers: withVariables(headers, init.headersFromEnv ?? {}),
      bodyBase64: bytes,
      timeoutMs,
      redirectPolicy: redirect === "follow" ? "follow" : "stop",
    },
    redirect,
    signal,
  };
}

type Header = HttpAsk["headers"][number];

/** Those that the web spells in capitals however they are given; others keep their case. */
function upperCased(method: string): string {
  const upper = method.toUpperCase();
  return ["DELETE", "GET", "HEAD", "OPTIONS", "POST", "PUT"].includes(upper) ? upper : method;
}

function headerList(init: HeadersInit | undefined): Header[] {
  if (init === undefined) return [];
  const pairs = Symbol.iterator in init ? [...init as Iterable<readonly string[]>] : Object.entries(init);
  return pairs.map(([name, value]) => ({ name: String(name), value: String(value), valueEnvVar: null }));
}

function has(headers: readonly Header[], name: string): boolean {
  return headers.some((header) => header.name.toLowerCase() === name);
}

/** A variable's content goes behind the last value of its header. */
function withVariables(headers: Header[], variables: Readonly<Record<string, string>>): Header[] {
  for (const [name, valueEnvVar] of Object.entries(variables)) {
    const at = headers.findLastIndex((header) => header.name.toLowerCase() === name.toLowerCase());
    const header = headers[at];
    if (header === undefined) headers.push({ name, value: "", valueEnvVar });
    else headers[at] = { ...header, valueEnvVar };
  }
  return headers;
}

interface ReadBody {
  /** Null: there is none. */
  readonly bytes: Uint8Array<ArrayBuffer> | null;
  /** The media type that its kind implies. */
  readonly type: string | null;
}

async function readBody(
  request: Request | undefined,
  init: FetchInit,
  limit: number,
  stop: AbortSignal,
): Promise<ReadBody> {
  const { body } = init;
  if (body === null) return { bytes: null, type: null };
  if (body === undefined) {
    if (request === undefined || request.method === "GET" || request.method === "HEAD") {
      return { bytes: null, type: null };
    }
    const bytes = new Uint8Array(await request.arrayBuffer());
    // Its headers hold the type already. Not every browser tells whether there is a body.
    return { bytes: bytes.length === 0 ? null : within(bytes, limit), type: null };
  }
  if (body instanceof ReadableStream) {
    const bytes = await collected(body, limit, stop);
    if (bytes === undefined) throw tooLong(limit);
    return { bytes, type: null };
  }
  // The platform knows what each kind is as bytes, and its type.
  const whole = new Response(body as BodyInit);
  const type = whole.headers.get("content-type");
  return { bytes: within(new Uint8Array(await whole.arrayBuffer()), limit), type };
}

function within(bytes: Uint8Array<ArrayBuffer>, limit: number): Uint8Array<ArrayBuffer> {
  if (bytes.length > limit) throw tooLong(limit);
  return bytes;
}

function tooLong(limit: number): Error {
  return httpError(`the request's body is longer than the ${limit} bytes that one message carries`);
}
