import type { Transform } from "node:stream";
import type { Body } from "./body.ts";
import type { HttpResponse } from "./exchange.ts";
import { bodyFailure } from "./failure.ts";
import { ZstdFrames } from "./zstd_frames.ts";

type Zlib = typeof import("node:zlib");

/** Loaded with the first request. */
let zlib: Promise<Zlib> | undefined;

function loadZlib(): Promise<Zlib> {
  return zlib ??= import("node:zlib");
}

/** What `accept-encoding` offers: the codings that {@linkcode decoded} takes off. */
export async function offeredCodings(): Promise<string> {
  return hasZstd(await loadZlib()) ? "zstd,gzip" : "gzip";
}

/** Deno 2.4 has no zstd. */
function hasZstd(zlib: Zlib): boolean {
  return typeof zlib.createZstdDecompress === "function";
}

/** How much the decompressor puts out at once, in bytes. */
const CHUNK_BYTES = 64 * 1024;

/**
 * For how long pieces are handed out in one turn of the event loop, in milliseconds: a few hundred received bytes can
 * unfold to megabytes, and that needs no word from outside.
 */
const TURN_MS = 5;

/**
 * The response without the coding that its first `content-encoding` names, and without what that makes untrue:
 * `content-encoding` and `content-length`. Only `gzip` and `zstd`, in exactly this writing, are taken off, and only
 * once; the reference does the same.
 *
 * @param signal Ends the decompression of what has been received.
 */
export async function decoded(response: HttpResponse, signal: AbortSignal): Promise<HttpResponse> {
  const { status, headers, body } = response;
  const coding = headers.first("content-encoding");
  if (coding !== "gzip" && coding !== "zstd") return response;
  const zlib = await loadZlib();
  if (coding === "zstd" && !hasZstd(zlib)) return response;
  headers.remove("content-encoding");
  headers.remove("content-length");
  const options = { chunkSize: CHUNK_BYTES };
  const decompressed = coding === "gzip"
    ? new DecompressedBody(body, zlib.createGunzip(options), undefined, signal)
    : new DecompressedBody(body, zlib.createZstdDecompress(options), new ZstdFrames(), signal);
  return { status, headers, body: decompressed };
}

/**
 * A body with its compression taken off. What comes is decompressed at once, but no further piece is asked for before
 * the last one has been read: a small body that unfolds to gigabytes takes no more memory than any other.
 */
class DecompressedBody implements Body {
  readonly length = undefined;
  readonly #source: Body;
  readonly #transform: Transform;
  readonly #frames: ZstdFrames | undefined;
  readonly #signal: AbortSignal;
  readonly #pieces: AsyncIterator<Uint8Array>;
  #turnBegan = performance.now();
  #started = false;
  #empty = true;
  /** What went wrong with the source; told when all that came before has been read. */
  #failure: unknown;

  constructor(source: Body, transform: Transform, frames: ZstdFrames | undefined, signal: AbortSignal) {
    this.#source = source;
    this.#signal = signal;
    this.#transform = transform;
    this.#frames = frames;
    this.#pieces = transform[Symbol.asyncIterator]();
    // Whoever reads hears of it; while nobody does, it must not end the program.
    transform.on("error", () => {});
  }

  async read(): Promise<Uint8Array | null> {
    if (!this.#started) void this.#pump();
    this.#started = true;
    await this.#giveWay();
    try {
      const { done, value } = await this.#pieces.next();
      if (done !== true) return value;
      if (this.#failure !== undefined) throw this.#failure;
      return null;
    } catch (error) {
      // A body without a single byte is no compressed one: the answer to HEAD, for example.
      if (this.#empty && this.#failure === undefined) return null;
      this[Symbol.dispose]();
      throw bodyFailure(this.#failure ?? error);
    }
  }

  [Symbol.dispose](): void {
    this.#transform.destroy();
    this.#source[Symbol.dispose]();
  }

  async #giveWay(): Promise<void> {
    if (performance.now() - this.#turnBegan > TURN_MS) {
      // Not `setImmediate`: while there are any, sockets are not looked at.
      await new Promise((resolve) => setTimeout(resolve, 0));
      this.#turnBegan = performance.now();
    }
    if (!this.#signal.aborted) return;
    this[Symbol.dispose]();
    throw bodyFailure(this.#signal.reason);
  }

  async #pump(): Promise<void> {
    try {
      for (let piece; (piece = await this.#source.read()) !== null;) {
        this.#empty = false;
        for (const part of this.#frames?.split(piece) ?? [piece]) await this.#write(part);
      }
      if (this.#frames?.whole === false) throw new TypeError("a zstd stream that was cut short");
    } catch (error) {
      this.#failure = error;
    }
    this.#transform.end();
  }

  /** Resolves when all of it has been decompressed, and room was made for the result. */
  #write(part: Uint8Array): Promise<void> {
    return new Promise((resolve, reject) => {
      this.#transform.write(part, (error) => error ? reject(error) : resolve());
    });
  }
}
