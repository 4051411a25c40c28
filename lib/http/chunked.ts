import { MalformedResponse } from "./failure.ts";
import { MAX_HEADERS, parseHeader } from "./response_head.ts";

/** Most bytes of all chunk extensions, and of all trailers, of one body. Source: hyper 1.11, 16 KiB each. */
const MAX_EXTENSION_BYTES = 16 * 1024;
const MAX_TRAILER_BYTES = 16 * 1024;

const CR = 0x0d;
const LF = 0x0a;

type State =
  | "first-digit"
  | "size"
  | "after-size"
  | "extension"
  | "size-lf"
  | "data"
  | "data-cr"
  | "data-lf"
  | "trailer"
  | "end";

/**
 * Takes the chunks out of a body with `Transfer-Encoding: chunked` (RFC 9112 7.1). Extensions and trailers are read and
 * thrown away.
 */
export class ChunkedDecoder {
  #state: State = "first-digit";
  /** Of the chunk, what has not come yet. */
  #left = 0;
  #extensionBytes = 0;
  #trailerBytes = 0;
  #trailers = 0;
  #line = "";

  /** Whether the last chunk and the trailers behind it have come: what follows is no part of the body. */
  get ended(): boolean {
    return this.#state === "end";
  }

  /**
   * Decodes what lies in `bytes` between `start` and `end`, in place: all data are moved together, to stand at `start`.
   *
   * @returns Where the data end, and how far the input has been read.
   * @throws {MalformedResponse}
   */
  decode(bytes: Uint8Array, start: number, end: number): { dataEnd: number; readTo: number } {
    let dataEnd = start;
    let at = start;
    while (at < end && this.#state !== "end") {
      if (this.#state === "data") {
        const length = Math.min(this.#left, end - at);
        if (dataEnd !== at) bytes.copyWithin(dataEnd, at, at + length);
        dataEnd += length;
        at += length;
        this.#left -= length;
        if (this.#left === 0) this.#state = "data-cr";
      } else {
        this.#state = this.#next(bytes[at++]!);
      }
    }
    return { dataEnd, readTo: at };
  }

  #next(byte: number): State {
    switch (this.#state) {
      case "first-digit":
        return this.#digit(byte) ? "size" : refuse("not a chunk size");
      case "size":
        return this.#digit(byte) ? "size" : this.#afterSize(byte);
      case "after-size":
        return this.#afterSize(byte);
      case "extension":
        if (byte === CR) return "size-lf";
        if (byte === LF || ++this.#extensionBytes > MAX_EXTENSION_BYTES) return refuse("a bad chunk extension");
        return "extension";
      case "size-lf":
        if (byte !== LF) return refuse("no end of the chunk size");
        return this.#left === 0 ? "trailer" : "data";
      case "data-cr":
        return byte === CR ? "data-lf" : refuse("no end of a chunk");
      case "data-lf":
        return byte === LF ? "first-digit" : refuse("no end of a chunk");
      default:
        return this.#trailer(byte);
    }
  }

  #digit(byte: number): boolean {
    const value = hexDigit(byte);
    if (value === undefined) return false;
    this.#left = this.#left * 16 + value;
    if (this.#left > Number.MAX_SAFE_INTEGER) refuse("too large a chunk");
    return true;
  }

  #afterSize(byte: number): State {
    if (byte === CR) return "size-lf";
    if (byte === 0x3b) return "extension";
    return byte === 0x20 || byte === 0x09 ? "after-size" : refuse("not a chunk size");
  }

  #trailer(byte: number): State {
    if (++this.#trailerBytes > MAX_TRAILER_BYTES) return refuse("too many trailers");
    if (byte !== LF) {
      this.#line += String.fromCharCode(byte);
      return "trailer";
    }
    if (!this.#line.endsWith("\r")) return refuse("no end of a trailer");
    const line = this.#line.slice(0, -1);
    this.#line = "";
    if (line === "") return "end";
    parseHeader(line);
    if (++this.#trailers > MAX_HEADERS) return refuse("too many trailers");
    return "trailer";
  }
}

function refuse(reason: string): never {
  throw new MalformedResponse(reason);
}

function hexDigit(byte: number): number | undefined {
  if (byte >= 0x30 && byte <= 0x39) return byte - 0x30;
  const lower = byte | 0x20;
  return lower >= 0x61 && lower <= 0x66 ? lower - 0x57 : undefined;
}
