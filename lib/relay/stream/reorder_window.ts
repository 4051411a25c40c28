import { MAX_HELD_BYTES, MAX_REORDER_DISTANCE, MAX_SEQ } from "../limits.ts";
import { keptBytes } from "./kept_bytes.ts";
import { StreamError } from "./stream_error.ts";

/**
 * Records of one direction in any order → in order, each once.
 *
 * Holds those that came too early, no more than {@linkcode MAX_HELD_BYTES} of them, and none that is more than
 * {@linkcode MAX_REORDER_DISTANCE} ahead: so many records are the most, too.
 */
export class ReorderWindow {
  #next: number;
  readonly #held = new Map<number, Uint8Array<ArrayBuffer>>();
  #heldBytes = 0;

  /** @param next The number that is expected first. */
  constructor(next = 0) {
    this.#next = next;
  }

  /** Bytes that came too early. */
  get heldBytes(): number {
    return this.#heldBytes;
  }

  /**
   * Takes one record in.
   *
   * @param record Copied if it is held and much more memory hangs on it.
   * @returns The records whose turn it is now.
   * @throws {StreamError} It is too far ahead, or too much would be held, or the numbers are used up.
   */
  accept(seq: number, record: Uint8Array<ArrayBuffer>): readonly Uint8Array<ArrayBuffer>[] {
    if (this.#next > MAX_SEQ) throw new StreamError("records used up");
    if (seq < this.#next || this.#held.has(seq)) return [];
    if (seq > this.#next) {
      this.#hold(seq, record);
      return [];
    }
    this.#next++;
    const ready = [record];
    for (let held; this.#held.size > 0 && (held = this.#held.get(this.#next)) !== undefined; this.#next++) {
      this.#held.delete(this.#next);
      this.#heldBytes -= held.length;
      ready.push(held);
    }
    return ready;
  }

  /** Forgets what it holds. */
  clear(): void {
    this.#held.clear();
    this.#heldBytes = 0;
  }

  #hold(seq: number, record: Uint8Array<ArrayBuffer>): void {
    if (seq - this.#next > MAX_REORDER_DISTANCE || this.#heldBytes + record.length > MAX_HELD_BYTES) {
      throw new StreamError("record out of reach");
    }
    this.#held.set(seq, keptBytes(record));
    this.#heldBytes += record.length;
  }
}
