import { ClientError, protocolError } from "./client_error.ts";
import type { ClientPart, ServerEvent } from "./client_part.ts";
import { MAX_BODY_DELTA_BYTES, MAX_BODY_DELTAS, MAX_QUEUED_BODY_BYTES } from "./limits.ts";
import { type BodyKeeper, type Delta, StreamedBody, weightOf } from "./streamed_body.ts";

/**
 * The streamed bodies of a client's HTTP responses. A stock server cannot be told to wait, so what nobody reads is kept,
 * within {@linkcode MAX_BODY_DELTAS} and {@linkcode MAX_QUEUED_BODY_BYTES}; the body that would exceed that fails. A lost
 * connection fails all.
 */
export class HttpBodies implements ClientPart {
  /** Those that have not ended. They are as many as requests that somebody waits for. */
  readonly #bodies = new Map<string, StreamedBody>();
  /** Counts over the life of the client, not of a connection. */
  #last = 0;
  #queuedBytes = 0;

  /**
   * Makes room for one body, to be called before it is asked for.
   *
   * @param keeperOf Given its `requestId`, which names it on the wire.
   */
  open(keeperOf: (requestId: string) => BodyKeeper): StreamedBody {
    const requestId = `http-${++this.#last}`;
    const body = new StreamedBody(requestId, {
      keeper: keeperOf(requestId),
      queued: (bytes) => this.#queuedBytes += bytes,
      forgotten: () => this.#bodies.delete(requestId),
    });
    this.#bodies.set(requestId, body);
    return body;
  }

  /** @throws {ClientError} `protocol`, for what no server may send. */
  notification({ method, params }: ServerEvent): void {
    if (method !== "http/request/bodyDelta") return;
    const { length } = params.deltaBase64;
    if (length > MAX_BODY_DELTA_BYTES) {
      throw protocolError(`http response body delta exceeds ${MAX_BODY_DELTA_BYTES} bytes`);
    }
    // Unknown names are no fault: the body may have been given up, or have failed.
    const body = this.#bodies.get(params.requestId);
    if (body !== undefined) this.#take(body, params);
  }

  disconnected(error: ClientError): void {
    this.#failAll(error);
  }

  failed(error: ClientError): void {
    this.#failAll(error);
  }

  #take(body: StreamedBody, delta: Delta): void {
    const { requestId, waiting, queued, nextSeq } = body;
    if (delta.seq !== nextSeq) {
      const order = `received seq ${delta.seq}, expected ${nextSeq}`;
      return this.#giveUp(body, protocolError(`http response stream \`${requestId}\` ${order}`));
    }
    if (!waiting) {
      const tooMuch = this.#tooMuch(queued, weightOf(delta.deltaBase64));
      if (tooMuch !== undefined) return this.#giveUp(body, streamFailure(requestId, tooMuch));
    }
    if (delta.error !== null) return this.#end(body, streamFailure(requestId, delta.error));
    body.push(delta.deltaBase64);
    if (delta.done) this.#end(body, null);
  }

  #tooMuch(queued: number, weight: number): string | undefined {
    if (this.#queuedBytes + weight > MAX_QUEUED_BODY_BYTES) {
      return `queued body deltas exceed ${MAX_QUEUED_BODY_BYTES} bytes`;
    }
    return queued >= MAX_BODY_DELTAS ? "body delta channel filled before delivery" : undefined;
  }

  /** What the server goes on sending is not wanted. */
  #giveUp(body: StreamedBody, error: ClientError): void {
    this.#bodies.delete(body.requestId);
    body.giveUp(error);
  }

  #end(body: StreamedBody, error: ClientError | null): void {
    this.#bodies.delete(body.requestId);
    body.end(error);
  }

  #failAll(error: ClientError): void {
    for (const body of [...this.#bodies.values()]) {
      const { message } = streamFailure(body.requestId, error.message);
      this.#end(body, new ClientError("disconnected", message, { cause: error }));
    }
  }
}

/** What a body fails with. */
export function streamFailure(requestId: string, text: string): ClientError {
  return protocolError(`http response stream \`${requestId}\` failed: ${text}`);
}
