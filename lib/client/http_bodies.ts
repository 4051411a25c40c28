import { ClientError, protocolError } from "./client_error.ts";
import type { ClientPart, ServerEvent } from "./client_part.ts";
import { MAX_BODY_DELTA_BYTES, MAX_BODY_DELTAS, MAX_QUEUED_BODY_BYTES } from "./limits.ts";
import { type Delta, StreamedBody } from "./streamed_body.ts";

/**
 * The streamed bodies of a client's HTTP responses. A server cannot be told to wait, so what nobody reads is kept: up to
 * 256 deltas of one body and 16 MiB of all together; the body that would exceed that fails. A lost connection fails all.
 */
export class HttpBodies implements ClientPart {
  /** Those that have not ended. They are as many as requests that somebody waits for. */
  readonly #bodies = new Map<string, StreamedBody>();
  /** Counts over the life of the client, not of a connection. */
  #last = 0;
  #queuedBytes = 0;

  /** Makes room for one body, to be called before it is asked for; its `requestId` names it on the wire. */
  open(): StreamedBody {
    const requestId = `http-${++this.#last}`;
    const body = new StreamedBody(requestId, {
      taken: (bytes) => this.#queuedBytes -= bytes,
      cancelled: () => this.#bodies.delete(requestId),
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
    const { requestId, waiting, queued } = body;
    const { length } = delta.deltaBase64;
    const failed = (text: string) => this.#end(body, streamFailure(requestId, text));
    if (delta.seq !== body.nextSeq) {
      const order = `received seq ${delta.seq}, expected ${body.nextSeq}`;
      return this.#end(body, protocolError(`http response stream \`${requestId}\` ${order}`));
    }
    if (!waiting) {
      if (this.#queuedBytes + length > MAX_QUEUED_BODY_BYTES) {
        return failed(`queued body deltas exceed ${MAX_QUEUED_BODY_BYTES} bytes`);
      }
      if (queued >= MAX_BODY_DELTAS) return failed("body delta channel filled before delivery");
    }
    if (delta.error !== null) return failed(delta.error);
    if (!waiting) this.#queuedBytes += length;
    body.push(delta.deltaBase64);
    if (delta.done) this.#end(body, null);
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
