import { type Clock, waitingClock } from "../../clock.ts";
import type { EnvironmentUrl, RegistryAction } from "./environment_url.ts";
import { MAX_REGISTRY_ANSWER_BYTES } from "../limits.ts";
import { RegistryError, requestFailed } from "./registry_error.ts";

export type Fetch = (url: string, init: RequestInit) => Promise<Response>;

export interface RegistryRequest {
  readonly action: RegistryAction;
  readonly body: Uint8Array<ArrayBuffer>;
  /** Besides those that every request has. */
  readonly headers: Readonly<Record<string, string>>;
  readonly signal: AbortSignal;
  /** For the whole exchange, the answer's body included. */
  readonly timeoutMs: number;
  /** Whether a body of an answer with this status is wanted. */
  readonly wantsBody: (status: number) => boolean;
}

export interface RegistryAnswer {
  readonly status: number;
  /** Empty if it was not wanted. What is no UTF-8 has become U+FFFD. */
  readonly body: string;
  /** The rest of the body did not come, or was not read because it is too long. */
  readonly defect?: RegistryError;
}

/** What every request says; the empty one keeps the platform from naming itself. */
export const COMMON_HEADERS = { "content-type": "application/json", "accept": "*/*", "user-agent": "" } as const;

/** Makes the requests. */
export class RegistryHttp {
  readonly #url: EnvironmentUrl;
  readonly #fetch: Fetch;
  readonly #clock: Clock;

  constructor(url: EnvironmentUrl, fetch: Fetch = globalThis.fetch, clock: Clock = waitingClock) {
    [this.#url, this.#fetch, this.#clock] = [url, fetch, clock];
  }

  /**
   * One POST, one answer. Redirects are not followed.
   *
   * @throws {RegistryError} `request`: there is no answer. Or the signal's reason.
   */
  async post(request: RegistryRequest): Promise<RegistryAnswer> {
    request.signal.throwIfAborted();
    const aborter = new AbortController();
    const cancel = () => aborter.abort(request.signal.reason);
    request.signal.addEventListener("abort", cancel, { once: true });
    const timer = this.#clock.after(request.timeoutMs, () => aborter.abort(new TimedOut()));
    try {
      return await this.#exchange(request, aborter.signal);
    } catch (error) {
      if (request.signal.aborted) throw request.signal.reason;
      if (aborter.signal.aborted) throw requestFailed("route-aware request timed out", { cause: error });
      throw error;
    } finally {
      timer.cancel();
      request.signal.removeEventListener("abort", cancel);
    }
  }

  async #exchange(request: RegistryRequest, signal: AbortSignal): Promise<RegistryAnswer> {
    const url = this.#url.of(request.action);
    const sent = this.#send(url, request, signal);
    const response = await abortable(sent, signal, (late) => void late.body?.cancel().catch(() => {}));
    const { status, body } = response;
    if (body === null) return { status, body: "" };
    if (!request.wantsBody(status)) {
      await body.cancel();
      return { status, body: "" };
    }
    return { status, ...await readBody(body, signal) };
  }

  async #send(url: string, { body, headers }: RegistryRequest, signal: AbortSignal): Promise<Response> {
    // Called as the function that it is: some platforms' own does not take another `this`.
    const fetch = this.#fetch;
    try {
      const sent = { ...COMMON_HEADERS, ...headers };
      return await fetch(url, { method: "POST", headers: sent, body, redirect: "manual", signal });
    } catch (error) {
      throw requestFailed(`error sending request for url (${url})`, { cause: error });
    }
  }
}

class TimedOut extends Error {}

/** @throws The signal's reason. */
async function readBody(
  body: ReadableStream<Uint8Array<ArrayBuffer>>,
  signal: AbortSignal,
): Promise<Omit<RegistryAnswer, "status">> {
  const reader = body.getReader();
  const decoder = new TextDecoder();
  let text = "";
  let length = 0;
  try {
    for (;;) {
      const { done, value } = await abortable(reader.read(), signal);
      if (done) return { body: text + decoder.decode() };
      length += value.length;
      text += decoder.decode(value, { stream: true });
      if (length > MAX_REGISTRY_ANSWER_BYTES) {
        const why = `the answer is longer than ${MAX_REGISTRY_ANSWER_BYTES} bytes`;
        return { body: text, defect: new RegistryError("request", `: ${why}`) };
      }
    }
  } catch (error) {
    signal.throwIfAborted();
    return { body: "", defect: requestFailed("error decoding response body", { cause: error }) };
  } finally {
    await reader.cancel().catch(() => {});
  }
}

/**
 * What a promise yields, unless the signal is faster: a client that was put in place of the platform's may not look at it.
 *
 * @param late What becomes of a value that nobody waits for any more.
 */
async function abortable<T>(promise: Promise<T>, signal: AbortSignal, late: (value: T) => void = () => {}): Promise<T> {
  const aborted = Promise.withResolvers<never>();
  const abort = () => aborted.reject(signal.reason);
  if (signal.aborted) abort();
  signal.addEventListener("abort", abort, { once: true });
  try {
    return await Promise.race([promise, aborted.promise]);
  } catch (error) {
    if (signal.aborted) promise.then(late, () => {});
    throw error;
  } finally {
    signal.removeEventListener("abort", abort);
  }
}
