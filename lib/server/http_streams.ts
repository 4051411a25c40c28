import type { Clock } from "../clock.ts";
import { ExecError } from "../errors.ts";
import type { HttpClient } from "../http/client.ts";
import type { HttpResponse } from "../http/exchange.ts";
import type { HttpFailure } from "../http/failure.ts";
import type { HttpRequest } from "../http/request_head.ts";
import type { Log } from "../log.ts";
import { lazily } from "../lazily.ts";
import { aroundBody, encodeBodyDelta, encodeBodyEnd } from "../protocol/http.ts";
import type { Result } from "../protocol/methods.ts";
import type { ConnectionScope } from "./connection_scope.ts";
import { TimeLimit } from "../http/time_limit.ts";
import { LargeResult } from "./large_result.ts";

const wholeBody = lazily(() => import("../http/whole_body.ts"));
const httpClient = lazily(() => import("../http/client.ts"));

/** One exchange that a client asked for. */
export interface HttpAsk {
  readonly request: HttpRequest;
  readonly redirects: "follow" | "stop";
  /** For all of it, in milliseconds; null: no limit. */
  readonly timeoutMs: number | null;
}

export interface HttpStreamsOptions {
  readonly scope: ConnectionScope;
  readonly clock: Clock;
  readonly log: Log;
  /** The server's own variables. */
  readonly environment: () => ReadonlyMap<string, string>;
}

/** Most bytes of one delta. Source: the reference. */
const MAX_DELTA_BYTES = 1024 * 1024;
/**
 * Largest body of a buffered response, in bytes: in base64 it must fit one string of 2^29 - 24 characters, the engine's
 * longest, beside a megabyte of headers.
 */
export const MAX_BUFFERED_BODY_BYTES = 383 * 1024 * 1024;
/** From this size on a body is put into its message without another copy. */
const LARGE_BODY_BYTES = 4 * 1024 * 1024;
/** What a WebSocket calls a fault of the server. */
const INTERNAL_ERROR = 1011;

/**
 * The HTTP exchanges of one connection; they end with it, at once.
 *
 * There is no limit to their number but the machine's descriptors: each is asked for by its client, one by one, and
 * holds a connection and at most 256 KiB of what has been received; a stream whose client does not read waits, and with
 * it the peer.
 */
export class HttpStreams implements Disposable {
  readonly #options: HttpStreamsOptions;
  /** By their names, those whose last delta has not been sent. */
  readonly #streams = new Map<string, HttpStream>();
  #client: Promise<HttpClient> | undefined;
  #ended = false;

  constructor(options: HttpStreamsOptions) {
    this.#options = options;
  }

  /** The whole response at once. */
  async whole(ask: HttpAsk): Promise<Result<"http/request"> | LargeResult> {
    using limit = this.#limitTo(ask.timeoutMs);
    const { WholeBody } = await wholeBody();
    const response = await this.#send(ask, limit.signal);
    using body = response.body;
    const head = headOf(response);
    if ((body.length ?? 0) > MAX_BUFFERED_BODY_BYTES) throw tooLong();
    const whole = await WholeBody.read(body, MAX_BUFFERED_BODY_BYTES).catch((error) => {
      throw this.#inWords(error, "failed to read http/request response body");
    });
    if (whole === undefined) throw tooLong();
    if (whole.length < LARGE_BODY_BYTES) return { ...head, bodyBase64: whole.takeBytes() };
    const [before, after] = aroundBody(head);
    return new LargeResult(before, whole.takeBase64(), after);
  }

  /**
   * The head of the response; its body follows the answer, in deltas.
   *
   * @param asked Called when the name has been found free: that comes before all else that can be refused.
   */
  async stream(
    requestId: string,
    asked: () => HttpAsk,
    afterAnswer: (callback: () => void) => void,
  ): Promise<Result<"http/request">> {
    const stream = this.#reserve(requestId);
    try {
      const ask = asked();
      stream.limit = this.#limitTo(ask.timeoutMs);
      const response = await this.#send(ask, stream.limit.signal);
      const pumping = this.#pump.bind(this, stream, response, stream.limit);
      afterAnswer(() => void pumping().catch((error) => this.#fault(error)));
      return { ...headOf(response), bodyBase64: new Uint8Array() };
    } catch (error) {
      this.#forget(stream);
      stream.limit?.[Symbol.dispose]();
      throw error;
    }
  }

  /** Stops the reading of a body, or has it go on. @returns Whether there is such a stream. */
  hold(requestId: string, on: boolean): boolean {
    const stream = this.#streams.get(requestId);
    stream?.hold(on);
    return stream !== undefined;
  }

  /** Ends a stream without another delta; its name is free. @returns Whether there was one. */
  cancel(requestId: string): boolean {
    const stream = this.#streams.get(requestId);
    if (stream === undefined) return false;
    this.#forget(stream);
    stream.limit?.abort();
    return true;
  }

  [Symbol.dispose](): void {
    this.#ended = true;
    for (const stream of [...this.#streams.values()]) this.#forget(stream);
    // That it could not be loaded has been told to whoever asked for it.
    void this.#client?.then((client) => client[Symbol.dispose](), () => {});
  }

  /** A stream that ends without a word would be waited for forever: the connection goes with it. */
  #fault(error: unknown): void {
    const { scope: { connection }, log } = this.#options;
    log.error("http stream failed unexpectedly", { error: error instanceof Error ? error.stack : String(error) });
    connection.close(INTERNAL_ERROR, "internal error");
  }

  #reserve(requestId: string): HttpStream {
    if (this.#streams.has(requestId)) {
      throw new ExecError("invalidParams", `http/request streamResponse requestId \`${requestId}\` is already active`);
    }
    const stream = new HttpStream(requestId);
    this.#streams.set(requestId, stream);
    return stream;
  }

  /** The name may be another's by now. */
  #forget(stream: HttpStream): void {
    if (this.#isWanted(stream)) this.#streams.delete(stream.requestId);
    stream.hold(false);
  }

  #isWanted(stream: HttpStream): boolean {
    return this.#streams.get(stream.requestId) === stream;
  }

  async #send({ request, redirects, timeoutMs }: HttpAsk, signal: AbortSignal): Promise<HttpResponse> {
    if (timeoutMs === 0) throw new ExecError("internal", "http/request failed: route-aware request timed out");
    this.#client ??= this.#load();
    const client = await this.#client;
    try {
      return await client.send(request, redirects, signal);
    } catch (error) {
      throw this.#inWords(error, "http/request failed");
    }
  }

  async #load(): Promise<HttpClient> {
    const { HttpClient } = await httpClient();
    const client = new HttpClient(this.#options);
    // The connection has ended while we were loading.
    if (this.#ended) client[Symbol.dispose]();
    return client;
  }

  /** Sends the body piece by piece; the next one is read when the client has made room for the last one. */
  async #pump(stream: HttpStream, response: HttpResponse, limit: TimeLimit): Promise<void> {
    using _limit = limit;
    using body = response.body;
    const { scope } = this.#options;
    const { connection } = scope;
    const idJson = JSON.stringify(stream.requestId);
    let seq = 0;
    let failure: string | null = null;
    try {
      for (;;) {
        while (stream.released !== undefined) await stream.released;
        const bytes = await body.read();
        if (bytes === null) break;
        connection.sharing = scope.isShared();
        // Asked again each time: of many streams that waited, the first may have taken all the room.
        while (connection.congested) await connection.drained();
        if (!this.#isWanted(stream)) return;
        for (let at = 0; at < bytes.length; at += MAX_DELTA_BYTES) {
          connection.send(encodeBodyDelta(idJson, ++seq, bytes.subarray(at, at + MAX_DELTA_BYTES)));
        }
      }
    } catch (error) {
      if (!isHttpFailure(error)) throw error;
      if (!this.#isWanted(stream)) return;
      this.#explain(error);
      failure = error.message;
    }
    if (!this.#isWanted(stream)) return;
    this.#forget(stream);
    connection.send(encodeBodyEnd(idJson, ++seq, failure));
  }

  /** A failure of the exchange in the words of the wire; anything else is a fault of ours. */
  #inWords(error: unknown, what: string): unknown {
    if (!isHttpFailure(error)) return error;
    this.#explain(error);
    return new ExecError("internal", `${what}: ${error.message}`, { cause: error });
  }

  /** What the wire has no words for. */
  #explain({ stage, cause }: HttpFailure): void {
    if (this.#options.scope.signal.aborted) return;
    const reason = cause instanceof Error ? cause.message : undefined;
    this.#options.log.debug("http request failed", { stage, reason });
  }

  #limitTo(timeoutMs: number | null): TimeLimit {
    return new TimeLimit(this.#options.clock, timeoutMs, this.#options.scope.signal);
  }
}

/** One name that is taken. */
class HttpStream {
  readonly requestId: string;
  /** Once the exchange has begun. */
  limit: TimeLimit | undefined;
  #held: PromiseWithResolvers<void> | undefined;

  constructor(requestId: string) {
    this.requestId = requestId;
  }

  /** Resolves when its body may be read. */
  get released(): Promise<void> | undefined {
    return this.#held?.promise;
  }

  hold(on: boolean): void {
    if (on) this.#held ??= Promise.withResolvers();
    else {
      this.#held?.resolve();
      this.#held = undefined;
    }
  }
}

function headOf({ status, headers }: HttpResponse): Pick<Result<"http/request">, "status" | "headers"> {
  return { status, headers: headers.printable() };
}

function tooLong(): ExecError {
  const reason = `the body is longer than ${MAX_BUFFERED_BODY_BYTES} bytes`;
  return new ExecError("internal", `failed to read http/request response body: ${reason}`);
}

/** By its name: the class itself is loaded with the first request. */
function isHttpFailure(error: unknown): error is HttpFailure {
  return error instanceof Error && error.name === "HttpFailure";
}
