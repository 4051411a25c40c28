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

const encoder = new TextEncoder();

class LineConnection implements StdioConnection {
  readonly label = "exec-server stdio";
  readonly malformedPrefix = `failed to parse JSON-RPC message from ${this.label}: `;
  readonly #input: ByteSource;
  readonly #output: ByteSink;
  #receiver: Receiver | undefined;
  #end: ConnectionEnd | undefined;
  #queue: Uint8Array<ArrayBuffer>[] = [];
  #queuedBytes = 0;
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
    let line = encoder.encode(message + "\n");
    if (this.#writing === undefined && line.length <= PROMPT_BYTES) {
      line = line.subarray(this.#output.writeNow?.(line) ?? 0);
      if (line.length === 0) return;
    }
    this.#queue.push(line);
    this.#queuedBytes += line.length;
    this.#writing ??= this.#write();
  }

  get congested(): boolean {
    return this.#end === undefined && this.#queuedBytes > HIGH_WATER_BYTES;
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
        let rest = this.#take();
        while (rest.length > 0) {
          const count = await this.#output.write(rest);
          rest = rest.subarray(count);
          this.#queuedBytes -= count;
          if (this.#waiters.length > 0 && !this.congested) this.#release();
        }
      }
    } catch (error) {
      this.#queue = [];
      this.#queuedBytes = 0;
      this.#finish(`stdout: ${describe(error)}`);
    }
    this.#writing = undefined;
  }

  /** The next bytes to write: one large message, or several small ones in one piece. */
  #take(): Uint8Array<ArrayBuffer> {
    let count = 1;
    let bytes = this.#queue[0]!.length;
    while (count < this.#queue.length && bytes + this.#queue[count]!.length <= WRITE_BYTES) {
      bytes += this.#queue[count]!.length;
      count++;
    }
    const parts = this.#queue.splice(0, count);
    if (count === 1) return parts[0]!;
    const whole = new Uint8Array(bytes);
    let at = 0;
    for (const part of parts) {
      whole.set(part, at);
      at += part.length;
    }
    return whole;
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
