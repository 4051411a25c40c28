import type { Readable, Writable } from "node:stream";
import type { ByteSink, ByteSource } from "../../rpc/stdio.ts";

/** A stream of Node.js that is read when somebody asks for more, and no sooner. */
export class StreamSource implements ByteSource {
  readonly #stream: Readable;
  readonly #chunks: AsyncIterator<Uint8Array<ArrayBuffer>>;
  #rest: Uint8Array<ArrayBuffer> = new Uint8Array();
  #released = false;
  /** Resolves when it has been read to its end, or was released. */
  readonly closed: Promise<void>;

  constructor(stream: Readable) {
    this.#stream = stream;
    this.#chunks = stream[Symbol.asyncIterator]();
    this.closed = new Promise((resolve) => stream.once("close", () => resolve()));
  }

  async read(into: Uint8Array<ArrayBuffer>): Promise<number | null> {
    while (this.#rest.length === 0) {
      const rest = await this.#next();
      if (rest === null) return null;
      this.#rest = rest;
    }
    const part = this.#rest.subarray(0, into.length);
    into.set(part);
    this.#rest = this.#rest.subarray(part.length);
    return part.length;
  }

  async #next(): Promise<Uint8Array<ArrayBuffer> | null> {
    try {
      const { done, value } = await this.#chunks.next();
      return done ? null : value;
    } catch (error) {
      if (this.#released) return null;
      throw error;
    }
  }

  /** Whoever reads sees the end. */
  release(): void {
    this.#released = true;
    this.#stream.destroy();
  }
}

/** A stream of Node.js that is written to one piece at a time, the next when the last one has left. */
export class StreamSink implements ByteSink {
  readonly #stream: Writable;
  readonly #beforeFailure: () => Promise<void>;

  /** @param beforeFailure What is waited for before anybody is told that a write failed. */
  constructor(stream: Writable, beforeFailure: () => Promise<void>) {
    this.#stream = stream;
    this.#beforeFailure = beforeFailure;
    // The same error reaches whoever wrote; without this it would end the program as well.
    stream.on("error", () => {});
  }

  write(bytes: Uint8Array<ArrayBuffer>): Promise<number> {
    return new Promise((resolve, reject) => {
      this.#stream.write(bytes, (error) => {
        if (error) void this.#beforeFailure().then(() => reject(error));
        else resolve(bytes.length);
      });
    });
  }
}

/** Resolves when `promise` does, or when the time is over. */
export async function within(ms: number, promise: Promise<void>): Promise<void> {
  let timer: ReturnType<typeof setTimeout> | undefined;
  await Promise.race([promise, new Promise<void>((resolve) => timer = setTimeout(resolve, ms))]);
  clearTimeout(timer);
}
