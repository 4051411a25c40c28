import type { AssemblyBudget } from "./assembly_budget.ts";
import { LENGTH_BYTES, MAX_MESSAGE_BYTES, MAX_RECORD_BYTES } from "../limits.ts";
import { keptBytes } from "./kept_bytes.ts";
import { StreamError } from "./stream_error.ts";

const encoder = new TextEncoder();

/**
 * A message as it goes into records: its length, 4 bytes, most significant first, and itself.
 *
 * @param message A text is encoded once, straight behind its length; bytes are copied.
 * @throws {StreamError} It is empty or larger than {@linkcode MAX_MESSAGE_BYTES}.
 */
export function prefixed(message: string | Uint8Array): Uint8Array<ArrayBuffer> {
  // A unit of UTF-16 is at least one byte.
  if (message.length === 0 || message.length > MAX_MESSAGE_BYTES) throw notSendable();
  const bytes = typeof message === "string" ? encodeBehind(LENGTH_BYTES, message) : copyBehind(LENGTH_BYTES, message);
  const length = bytes.length - LENGTH_BYTES;
  if (length > MAX_MESSAGE_BYTES) throw notSendable();
  new DataView(bytes.buffer, bytes.byteOffset).setUint32(0, length);
  return bytes;
}

function notSendable(): StreamError {
  return new StreamError("message to send is empty or too large");
}

function copyBehind(offset: number, message: Uint8Array): Uint8Array<ArrayBuffer> {
  const bytes = new Uint8Array(offset + message.length);
  bytes.set(message, offset);
  return bytes;
}

function encodeBehind(offset: number, text: string): Uint8Array<ArrayBuffer> {
  // Nearly all messages are ASCII; the rest needs up to three bytes for each unit that is left.
  const guess = new Uint8Array(offset + text.length);
  const { read, written } = encoder.encodeInto(text, guess.subarray(offset));
  const known = offset + written;
  if (read === text.length) return guess.subarray(0, known);
  const rest = text.slice(read);
  const bytes = new Uint8Array(known + 3 * rest.length);
  bytes.set(guess.subarray(0, known));
  return bytes.subarray(0, known + encoder.encodeInto(rest, bytes.subarray(known)).written);
}

/** The piece of a prefixed message that the record at `offset` carries. */
export function recordAt(message: Uint8Array<ArrayBuffer>, offset: number): Uint8Array<ArrayBuffer> {
  return message.subarray(offset, offset + MAX_RECORD_BYTES);
}

/** The first buffer for a message that does not come in one record. */
const FIRST_BUFFER_BYTES = 64 * 1024;

/**
 * Plaintexts of records, in order → messages. A message's length is believed, but memory is taken for no more than twice
 * what has come of it.
 */
export class MessageAssembler implements Disposable {
  readonly #budget: AssemblyBudget;
  /** Of the length, so many bytes have come. */
  #lengthBytes = 0;
  #length = 0;
  #buffer: Uint8Array<ArrayBuffer> = new Uint8Array(0);
  #filled = 0;

  constructor(budget: AssemblyBudget) {
    this.#budget = budget;
  }

  /**
   * Goes on with the next plaintext, which must not be changed afterwards.
   *
   * @returns The messages that are whole now.
   * @throws {StreamError} A message's length is not allowed, or the budget is used up. What stands before it is returned
   * before.
   */
  *push(plaintext: Uint8Array<ArrayBuffer>): Generator<Uint8Array<ArrayBuffer>, void, undefined> {
    let at = 0;
    while (at < plaintext.length) {
      if (this.#lengthBytes < LENGTH_BYTES) {
        this.#length = this.#length * 256 + plaintext[at++]!;
        if (++this.#lengthBytes < LENGTH_BYTES) continue;
        if (this.#length === 0 || this.#length > MAX_MESSAGE_BYTES) throw new StreamError("bad message length");
      }
      const part = plaintext.subarray(at, at + this.#length - this.#filled);
      at += part.length;
      if (part.length === this.#length) {
        this.#reset();
        yield keptBytes(part);
      } else if (part.length > 0) {
        this.#append(part);
        if (this.#filled === this.#length) yield this.#take();
      }
    }
  }

  #append(part: Uint8Array): void {
    const needed = this.#filled + part.length;
    if (needed > this.#buffer.length) {
      const capacity = Math.min(this.#length, Math.max(needed, 2 * this.#buffer.length, FIRST_BUFFER_BYTES));
      if (!this.#budget.take(capacity - this.#buffer.length)) throw new StreamError("too much held");
      const larger = new Uint8Array(capacity);
      larger.set(this.#buffer.subarray(0, this.#filled));
      this.#buffer = larger;
    }
    this.#buffer.set(part, this.#filled);
    this.#filled = needed;
  }

  /** The message, which fills its buffer: that never grows beyond the length. */
  #take(): Uint8Array<ArrayBuffer> {
    const message = this.#buffer;
    this[Symbol.dispose]();
    this.#reset();
    return message;
  }

  #reset(): void {
    this.#lengthBytes = this.#length = this.#filled = 0;
  }

  /** Gives back what the budget was asked for. */
  [Symbol.dispose](): void {
    this.#budget.give(this.#buffer.length);
    this.#buffer = new Uint8Array(0);
  }
}
