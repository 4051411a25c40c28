import { type Connection, type ConnectionEnd, HIGH_WATER_BYTES, type Receiver } from "./connection.ts";
import { LineSplitter } from "./line_splitter.ts";

/** Most bytes of one line, its newline not counted. Source: the reference, which ends the connection beyond it. */
export const MAX_LINE_BYTES = 64 * 1024 * 1024;
/** One read; a pipe holds no more by default. */
const READ_BYTES = 64 * 1024;
/** Messages that wait are written together up to about this size. */
const WRITE_BYTES = 64 * 1024;
/** Larger messages are written by another thread, which lets this one work on. POSIX writes so many to a pipe as one. */
const PROMPT_BYTES = 4096;

/** Where lines come from: `Deno.stdin` is one. Measured: 20 µs quicker per line than `Deno.stdin.readable`. */
export interface ByteSource {
  /** Fills the front of `into`; null: no more comes. */
  read(into: Uint8Array<ArrayBuffer>): Promise<number | null>;
}

/** Where lines go: `Deno.stdout` is one. */
export interface ByteSink {
  /** Writes a part of `bytes`, waiting for room without blocking the event loop; returns how much. */
  write(bytes: Uint8Array<ArrayBuffer>): Promise<number>;
  /**
   * Writes what fits without waiting for anything and returns how much, which may be 0. Spares a small message the way
   * through another thread (measured: 40 of 100 µs from request to answer). Must never block nor throw: what is wrong
   * with the sink `write` tells.
   */
  writeNow?(bytes: Uint8Array<ArrayBuffer>): number;
}

/** The connection of a program with the one peer that started it. */
export interface StdioConnection extends Connection {
  /** Resolves when all that was sent has been written, or no longer can be. Waits for a reader without limit. */
  flushed(): Promise<void>;
}

/**
 * A connection over lines of bytes, one message each. Reading begins with `start` and cannot be called back: after
 * `close` one read stays under way until the input yields something or ends.
 */
export function stdioConnection(input: ByteSource, output: ByteSink): StdioConnection {
  return new LineConnection(input, output);
}

/** A buffer for outgoing bytes that grew beyond this for one large message is not kept. */
const KEPT_BYTES = 1024 * 1024;

const encoder = new TextEncoder();

class LineConnection implements StdioConnection {
  readonly label = "exec-server stdio";
  highWaterBytes = HIGH_WATER_BYTES;
  readonly malformedPrefix = `failed to parse JSON-RPC message from ${this.label}: `;
  readonly #input: ByteSource;
  readonly #output: ByteSink;
  #receiver: Receiver | undefined;
  #end: ConnectionEnd | undefined;
  /** What waits to be written, and how long it is; texts become bytes when their turn comes. */
  #queue: (string | Uint8Array<ArrayBuffer>)[] = [];
  #queuedBytes = 0;
  /** The bytes on their way out; used again and again, so that a flood leaves no garbage outside the heap. */
  #outgoing = new Uint8Array(0);
  #writing: Promise<void> | undefined;
  #waiters: (() => void)[] = [];

  constructor(input: ByteSource, output: ByteSink) {
    this.#input = input;
    this.#output = output;
  }

  start(receiver: Receiver): void {
    this.#receiver = receiver;
    if (this.#end !== undefined) receiver.ended(this.#end);
    else void this.#read(receiver);
  }

  send(message: string): void {
    if (this.#end !== undefined) return;
    const line = message + "\n";
    if (this.#writing === undefined && line.length <= PROMPT_BYTES && this.#output.writeNow !== undefined) {
      const bytes = encoder.encode(line);
      const rest = bytes.subarray(bytes.length <= PROMPT_BYTES ? this.#output.writeNow(bytes) : 0);
      if (rest.length > 0) this.#enqueue(rest);
    } else {
      this.#enqueue(line);
    }
  }

  #enqueue(line: string | Uint8Array<ArrayBuffer>): void {
    this.#queue.push(line);
    this.#queuedBytes += line.length;
    this.#writing ??= this.#write();
  }

  get congested(): boolean {
    return this.#end === undefined && this.#queuedBytes > this.highWaterBytes;
  }

  drained(): Promise<void> {
    if (!this.congested) return Promise.resolve();
    return new Promise((resolve) => this.#waiters.push(resolve));
  }

  async flushed(): Promise<void> {
    await this.#writing;
  }

  close(_code?: number, reason = "closed by us"): void {
    this.#finish(reason);
  }

  async #read(receiver: Receiver): Promise<void> {
    const splitter = new LineSplitter(MAX_LINE_BYTES);
    const buffer = new Uint8Array(READ_BYTES);
    try {
      while (this.#end === undefined) {
        const count = await this.#input.read(buffer);
        for (const line of count === null ? splitter.end() : splitter.push(buffer.subarray(0, count))) {
          if (this.#end !== undefined) return;
          const pause = receiver.message(line);
          if (pause !== undefined) await pause;
        }
        if (count === null) return this.#finish("end of input");
      }
    } catch (error) {
      this.#finish(`stdin: ${describe(error)}`);
    }
  }

  /** Writes until the queue is empty. Never rejects. */
  async #write(): Promise<void> {
    // What is sent in the same turn goes out in the same write.
    await undefined;
    try {
      while (this.#queue.length > 0) {
        const { bytes, length } = this.#take();
        for (let rest = bytes; rest.length > 0;) rest = rest.subarray(await this.#output.write(rest));
        this.#queuedBytes -= length;
        if (this.#waiters.length > 0 && !this.congested) this.#release();
      }
    } catch (error) {
      this.#queue = [];
      this.#queuedBytes = 0;
      this.#finish(`stdout: ${describe(error)}`);
    }
    this.#writing = undefined;
  }

  /** The next bytes to write, of one large message or of several small ones, and their length in the queue. */
  #take(): { bytes: Uint8Array<ArrayBuffer>; length: number } {
    let count = 0;
    let length = 0;
    let filled = 0;
    while (count < this.#queue.length && (count === 0 || length + this.#queue[count]!.length <= WRITE_BYTES)) {
      const line = this.#queue[count++]!;
      length += line.length;
      filled = this.#append(line, filled);
    }
    this.#queue.splice(0, count);
    const bytes = this.#outgoing.subarray(0, filled);
    if (this.#outgoing.length > KEPT_BYTES) this.#outgoing = new Uint8Array(0);
    return { bytes, length };
  }

  /** Puts one line behind what is filled already; returns how much is filled then. */
  #append(line: string | Uint8Array<ArrayBuffer>, filled: number): number {
    // A UTF-16 unit makes three bytes at most, and usually one.
    if (this.#outgoing.length < filled + line.length) this.#grow(filled, filled + line.length);
    if (typeof line !== "string") {
      this.#outgoing.set(line, filled);
      return filled + line.length;
    }
    const { read, written } = encoder.encodeInto(line, this.#outgoing.subarray(filled));
    if (read === line.length) return filled + written;
    const rest = line.slice(read);
    this.#grow(filled + written, filled + written + 3 * rest.length);
    return this.#append(rest, filled + written);
  }

  #grow(filled: number, needed: number): void {
    const larger = new Uint8Array(Math.max(needed, 2 * WRITE_BYTES));
    larger.set(this.#outgoing.subarray(0, filled));
    this.#outgoing = larger;
  }

  #release(): void {
    const waiters = this.#waiters;
    this.#waiters = [];
    for (const resolve of waiters) resolve();
  }

  #finish(reason: string): void {
    if (this.#end !== undefined) return;
    this.#end = { reason };
    this.#release();
    this.#receiver?.ended(this.#end);
  }
}

function describe(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
