import { STDIN_QUEUE_CHUNKS } from "../child.ts";

/** Hands one chunk to a program and calls `done` when the next may come, whether or not anybody took it. */
export type StdinWriter = (bytes: Uint8Array<ArrayBuffer>, done: () => void) => void;

interface Waiting {
  readonly bytes: Uint8Array<ArrayBuffer>;
  admit(): void;
}

/**
 * Chunks on their way to a program, in order: one being written, {@linkcode STDIN_QUEUE_CHUNKS} behind it, and behind
 * those the writers who wait for room, each of whom belongs to a request.
 */
export class StdinQueue {
  readonly #write: StdinWriter;
  readonly #finish: () => void;
  readonly #queued: Uint8Array<ArrayBuffer>[] = [];
  readonly #waiting = new Set<Waiting>();
  #isWriting = false;
  #isEnding = false;
  #isClosed = false;

  /** @param finish Called once after {@linkcode StdinQueue.end}, when everything has been written. */
  constructor(write: StdinWriter, finish: () => void = () => {}) {
    this.#write = write;
    this.#finish = finish;
  }

  /** See {@linkcode Child.write}. */
  push(bytes: Uint8Array<ArrayBuffer>, signal: AbortSignal): Promise<void> | undefined {
    if (this.#isClosed || this.#isEnding || bytes.length === 0) return undefined;
    if (!this.#isWriting) {
      this.#begin(bytes);
      return undefined;
    }
    if (this.#queued.length < STDIN_QUEUE_CHUNKS) {
      this.#queued.push(bytes);
      return undefined;
    }
    return this.#waitForRoom(bytes, signal);
  }

  /** Takes no more, and finishes when everybody who came before has been served. */
  end(): void {
    if (this.#isEnding) return;
    this.#isEnding = true;
    if (!this.#isWriting && !this.#isClosed) this.#finish();
  }

  /** The program takes nothing any more: drops what is queued, and from now on whatever comes. */
  close(): void {
    this.#isClosed = true;
    this.#queued.length = 0;
    for (const waiting of this.#waiting) waiting.admit();
  }

  #waitForRoom(bytes: Uint8Array<ArrayBuffer>, signal: AbortSignal): Promise<void> {
    return new Promise((resolve, reject) => {
      if (signal.aborted) return reject(signal.reason);
      const leave = (): void => {
        this.#waiting.delete(waiting);
        signal.removeEventListener("abort", onAbort);
      };
      const onAbort = (): void => {
        leave();
        reject(signal.reason);
      };
      const waiting: Waiting = {
        bytes,
        admit(): void {
          leave();
          resolve();
        },
      };
      signal.addEventListener("abort", onAbort);
      this.#waiting.add(waiting);
    });
  }

  #begin(bytes: Uint8Array<ArrayBuffer>): void {
    this.#isWriting = true;
    this.#write(bytes, () => {
      this.#isWriting = false;
      const next = this.#queued.shift();
      if (next === undefined) {
        if (this.#isEnding && !this.#isClosed) this.#finish();
        return;
      }
      for (const waiting of this.#waiting) {
        this.#queued.push(waiting.bytes);
        waiting.admit();
        break;
      }
      this.#begin(next);
    });
  }
}
