import { type Connection, type ConnectionEnd, type Receiver, SHARED_HIGH_WATER_BYTES } from "./connection.ts";
import { LineSplitter } from "./line_splitter.ts";
import { OutgoingBytes } from "./outgoing_bytes.ts";

/** Most bytes of one line, its newline not counted. Source: the reference, which ends the connection beyond it. */
export const MAX_LINE_BYTES = 64 * 1024 * 1024;
/** One read; a pipe holds no more by default. */
const READ_BYTES = 64 * 1024;
/** Messages that wait are written together, so much at once. */
const WRITE_BYTES = 256 * 1024;
/** Larger messages are written by another thread, which lets this one work on. POSIX writes so many to a pipe as one. */
const PROMPT_BYTES = 4096;

/**
 * Unsent output that makes the connection congested. A write tells when it is done, so that less is needed than where
 * one has to look; and what waits lies in two buffers of this size.
 */
export const STDIO_HIGH_WATER_BYTES = 256 * 1024;

/** How long the answers to requests that came before the end of the input may take; a long poll must not hold the end up. */
const END_PATIENCE_MS = 1_000;

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
 *
 * @param label How texts call the other side; the default is what a server calls the one that started it.
 */
export function stdioConnection(
  input: ByteSource,
  output: ByteSink,
  label: string = "exec-server stdio",
): StdioConnection {
  return new LineConnection(input, output, label);
}

class LineConnection implements StdioConnection {
  readonly label: string;
  sharing = false;
  readonly malformedPrefix: string;
  readonly #input: ByteSource;
  readonly #output: ByteSink;
  #receiver: Receiver | undefined;
  #end: ConnectionEnd | undefined;
  readonly #waitingBytes = new OutgoingBytes();
  /** Bytes that `#write` has taken and not yet got rid of. */
  #leavingBytes = 0;
  #writing: Promise<void> | undefined;
  #waiters: (() => void)[] = [];

  constructor(input: ByteSource, output: ByteSink, label: string) {
    this.label = label;
    this.malformedPrefix = `failed to parse JSON-RPC message from ${label}: `;
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
    let sent = 0;
    const bytes = this.#waitingBytes.addLine(message);
    if (this.#writing === undefined && bytes.length <= PROMPT_BYTES) sent = this.#output.writeNow?.(bytes) ?? 0;
    this.#waitingBytes.skip(sent);
    if (this.#waitingBytes.length > 0) this.#writing ??= this.#write();
  }

  get congested(): boolean {
    return this.#end === undefined &&
      this.#waitingBytes.length + this.#leavingBytes >
        (this.sharing ? SHARED_HIGH_WATER_BYTES : STDIO_HIGH_WATER_BYTES);
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
        if (count === null) {
          await within(END_PATIENCE_MS, receiver.inputEnded?.());
          return this.#finish("end of input");
        }
      }
    } catch (error) {
      this.#finish(
        `stdin: ${describe(error)}`,
        `failed to read JSON-RPC message from ${this.label}: ${describe(error)}`,
      );
    }
  }

  /** Writes until the queue is empty. Never rejects. */
  async #write(): Promise<void> {
    // What is sent in the same turn goes out in the same write.
    await undefined;
    try {
      while (this.#waitingBytes.length > 0) {
        const bytes = this.#waitingBytes.take();
        this.#leavingBytes = bytes.length;
        while (this.#leavingBytes > 0) {
          const from = bytes.length - this.#leavingBytes;
          this.#leavingBytes -= await this.#output.write(bytes.subarray(from, from + WRITE_BYTES));
          if (this.#waiters.length > 0 && !this.congested) this.#release();
        }
      }
    } catch (error) {
      this.#leavingBytes = 0;
      this.#finish(
        `stdout: ${describe(error)}`,
        `failed to write JSON-RPC message to ${this.label}: ${describe(error)}`,
      );
    }
    this.#writing = undefined;
  }

  #release(): void {
    const waiters = this.#waiters;
    this.#waiters = [];
    for (const resolve of waiters) resolve();
  }

  /** @param failure What broke, if it did. */
  #finish(reason: string, failure?: string): void {
    if (this.#end !== undefined) return;
    this.#end = failure === undefined ? { reason } : { reason, failure };
    this.#release();
    this.#receiver?.ended(this.#end);
  }
}

/** Resolves when `promise` does, or when the time is over. */
async function within(ms: number, promise: Promise<void> | undefined): Promise<void> {
  if (promise === undefined) return;
  let timer: ReturnType<typeof setTimeout> | undefined;
  const patience = new Promise<void>((resolve) => timer = setTimeout(resolve, ms));
  await Promise.race([promise, patience]);
  clearTimeout(timer);
}

function describe(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
