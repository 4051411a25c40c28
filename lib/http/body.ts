import { ChunkedDecoder } from "./chunked.ts";
import { bodyFailure, MalformedResponse } from "./failure.ts";
import type { HeaderMap } from "./header_map.ts";
import type { ResponseHead } from "./response_head.ts";
import type { Socket } from "./socket.ts";

/** A body, piece by piece. Leaving its scope gives up what has not been read. */
export interface Body extends Disposable {
  /** The length that is known before it has been read, in bytes; undefined if it is not. */
  readonly length: number | undefined;
  /**
   * The next bytes, at once when they have been received; they are good until the next call. Null: that was all.
   *
   * @throws {HttpFailure} Of stage `body`.
   */
  read(): Promise<Uint8Array | null>;
}

/** How the end of a body is known (RFC 9112 6.3); `length` counts bytes. */
export type Framing =
  | { readonly kind: "length"; readonly length: number }
  | { readonly kind: "chunked" }
  | { readonly kind: "until-close" };

const NO_BODY: Framing = { kind: "length", length: 0 };

/**
 * @param method Of the request.
 * @throws {MalformedResponse} For lengths that are none or contradict each other, and for chunks in HTTP/1.0.
 */
export function framingOf(method: string, { status, minorVersion }: ResponseHead, headers: HeaderMap): Framing {
  if (method === "HEAD" || status === 101 || status === 204 || status === 304) return NO_BODY;
  if (method === "CONNECT" && status >= 200 && status < 300) return NO_BODY;
  const codings = headers.all("transfer-encoding");
  if (codings.length > 0) {
    if (minorVersion === 0) throw new MalformedResponse("a transfer coding in HTTP/1.0");
    return isChunked(codings) ? { kind: "chunked" } : { kind: "until-close" };
  }
  const lengths = headers.all("content-length");
  return lengths.length === 0 ? { kind: "until-close" } : { kind: "length", length: contentLength(lengths) };
}

/** Whether the last coding is `chunked`. */
export function isChunked(codings: readonly string[]): boolean {
  return codings.at(-1)?.split(",").at(-1)?.trim().toLowerCase() === "chunked";
}

/** What is longer is no length. Source: hyper 1.11, which keeps the last two 64-bit numbers for itself. */
const MAX_LENGTH = 2n ** 64n - 3n;

function contentLength(values: readonly string[]): number {
  const lengths = new Set(values.flatMap((value) => value.split(",")).map((text) => text.trim()));
  const [length] = lengths;
  if (lengths.size !== 1 || length === undefined || !/^0*\d{1,20}$/.test(length) || BigInt(length) > MAX_LENGTH) {
    throw new MalformedResponse("not one content length");
  }
  return Number(length);
}

/** The body as it stands behind its head on a socket. */
export class FramedBody implements Body {
  readonly length: number | undefined;
  readonly #socket: Socket;
  readonly #chunks: ChunkedDecoder | undefined;
  #left: number;
  #finish: ((whole: boolean) => void) | undefined;

  /**
   * @param finish Called once, when nothing of the socket is needed any more; `whole` if the body has been read to its
   * end, and the end is not that of the connection.
   */
  constructor(socket: Socket, framing: Framing, finish: (whole: boolean) => void) {
    this.#socket = socket;
    this.#chunks = framing.kind === "chunked" ? new ChunkedDecoder() : undefined;
    this.length = framing.kind === "length" ? framing.length : undefined;
    this.#left = this.length ?? Infinity;
    this.#finish = finish;
    if (this.#ended) this.#release(true);
  }

  async read(): Promise<Uint8Array | null> {
    try {
      while (this.#finish !== undefined) {
        if (this.#ended) this.#release(true);
        else if (this.#socket.start < this.#socket.end) {
          const piece = this.#take();
          if (piece.length > 0) return piece;
        } else if (!await this.#socket.fill()) {
          if (this.#chunks !== undefined || this.#left !== Infinity) throw new Error("the body was cut short");
          this.#release(false);
        }
      }
      return null;
    } catch (error) {
      this.#release(false);
      throw bodyFailure(error);
    }
  }

  /** Gives the rest up; the connection lives on only if all of the rest has been received. */
  [Symbol.dispose](): void {
    try {
      while (!this.#ended && this.#socket.start < this.#socket.end) this.#take();
      this.#release(this.#ended);
    } catch (error) {
      if (!(error instanceof MalformedResponse)) throw error;
      this.#release(false);
    }
  }

  get #ended(): boolean {
    return this.#left === 0 || this.#chunks?.ended === true;
  }

  /** Of what has been received, what belongs to the body. */
  #take(): Uint8Array {
    const { bytes, start, end } = this.#socket;
    if (this.#chunks === undefined) {
      const length = Math.min(this.#left, end - start);
      this.#left -= length;
      this.#socket.start += length;
      return bytes.subarray(start, start + length);
    }
    const { dataEnd, readTo } = this.#chunks.decode(bytes, start, end);
    this.#socket.start = readTo;
    return bytes.subarray(start, dataEnd);
  }

  #release(whole: boolean): void {
    const finish = this.#finish;
    this.#finish = undefined;
    finish?.(whole);
  }
}
