import type { Result } from "../protocol/methods.ts";
import type { ByteSource } from "./byte_source.ts";
import { httpError } from "./client_error.ts";
import type { WebRequest } from "./web_request.ts";

/** The head of a response, and its body as it comes. */
export interface HttpAnswer extends Pick<Result<"http/request">, "status" | "headers"> {
  readonly body: ByteSource;
}

/**
 * A response as the web has them. What the wire does not tell is empty: the reason phrase, and the URL if redirects may
 * have been followed.
 *
 * @throws {ClientError} `http`: a redirect that was to be an error, or a header that the web does not know of.
 */
export function webResponse({ status, headers, body }: HttpAnswer, { ask, redirect, signal }: WebRequest): Response {
  if (redirect === "error" && REDIRECTS.has(status)) {
    body.cancel();
    throw httpError(`the answer is a redirect (${status}), which was not to be followed`);
  }
  const heads = new Headers();
  for (const { name, value } of headers) {
    try {
      heads.append(name, value);
    } catch (error) {
      body.cancel();
      throw httpError(`the answer's header ${JSON.stringify(name)} is none`, error);
    }
  }
  const bodiless = WITHOUT_BODY.has(status) || ask.method === "HEAD";
  if (bodiless) body.cancel();
  const isUsual = status >= 200 && status <= 599;
  const response = new Response(bodiless ? null : byteStream(body, signal), {
    status: isUsual ? status : 200,
    statusText: "",
    headers: heads,
  });
  // The constructor refuses some that servers send.
  if (!isUsual) define(response, { status, ok: false });
  if (redirect !== "follow") define(response, { url: ask.url.replace(/#.*/, "") });
  // In browsers a response that a program makes has no cookies.
  if (heads.has("set-cookie") && !response.headers.has("set-cookie")) define(response, { headers: heads });
  return response;
}

const REDIRECTS: ReadonlySet<number> = new Set([301, 302, 303, 307, 308]);
/** The constructor refuses a body with these. */
const WITHOUT_BODY: ReadonlySet<number> = new Set([101, 103, 204, 205, 304]);

function define(response: Response, values: Readonly<Record<string, unknown>>): void {
  for (const [name, value] of Object.entries(values)) Object.defineProperty(response, name, { value });
}

/** Bodies whose response was dropped unread would be kept until they end, and their bytes for good. */
const dropped = new FinalizationRegistry((cancel: () => void) => cancel());

/** Reads nothing before it is asked to. */
function byteStream(body: ByteSource, signal: AbortSignal | undefined): ReadableStream<Uint8Array<ArrayBuffer>> {
  let ended = false;
  // A signal may live for long, and keeps its listeners: not the stream as well.
  let weakly: WeakRef<ReadableStreamDefaultController> | undefined;
  const end = () => {
    ended = true;
    signal?.removeEventListener("abort", abort);
  };
  const cancel = () => {
    end();
    body.cancel();
  };
  const abort = () => {
    weakly?.deref()?.error(signal?.reason);
    cancel();
  };
  const stream = new ReadableStream<Uint8Array<ArrayBuffer>>({
    start(controller) {
      weakly = new WeakRef(controller);
      signal?.addEventListener("abort", abort, { once: true });
      if (signal?.aborted) abort();
    },
    async pull(controller) {
      try {
        const bytes = await body.read();
        if (ended) return;
        if (bytes !== null) return controller.enqueue(bytes);
        end();
        controller.close();
      } catch (error) {
        end();
        throw error;
      }
    },
    cancel,
  }, { highWaterMark: 0 });
  dropped.register(stream, cancel);
  return stream;
}
