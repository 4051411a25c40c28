import type { Message } from "./connection.ts";

/** Input that was received and not yet answered may hold this many bytes; more ends the connection with 1009. */
export const MAX_UNANSWERED_BYTES = 256 * 1024 * 1024;
/** What a message counts besides its own bytes, for the memory that the smallest one takes (measured: 240 bytes). */
const MESSAGE_OVERHEAD_BYTES = 256;
/** Above this much unanswered input a carrier that can wait is asked to. */
const PAUSE_INPUT_BYTES = 64 * 1024 * 1024;

/** What a message that has not been answered counts towards {@linkcode MAX_UNANSWERED_BYTES}. */
export function weightOf(message: Message): number {
  return message.length + MESSAGE_OVERHEAD_BYTES;
}

/** Input that was received and not yet answered, in bytes. */
export class InputBudget {
  #bytes = 0;
  #waiters: (() => void)[] = [];

  get bytes(): number {
    return this.#bytes;
  }

  get exceeded(): boolean {
    return this.#bytes > MAX_UNANSWERED_BYTES;
  }

  received(bytes: number): void {
    this.#bytes += bytes;
  }

  answered(bytes: number): void {
    this.#bytes -= bytes;
    if (this.#waiters.length > 0 && this.#bytes <= PAUSE_INPUT_BYTES) this.release();
  }

  /** A promise while there is so much that a carrier that can wait is asked to. */
  relief(): Promise<void> | undefined {
    return this.#bytes > PAUSE_INPUT_BYTES ? new Promise((resolve) => this.#waiters.push(resolve)) : undefined;
  }

  /** Nobody waits any more. */
  release(): void {
    const waiters = this.#waiters;
    this.#waiters = [];
    for (const resolve of waiters) resolve();
  }
}
