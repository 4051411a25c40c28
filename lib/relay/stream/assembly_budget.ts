import { MAX_ASSEMBLED_BYTES } from "../limits.ts";

/**
 * What the streams of one socket may hold together for their peers: records that wait for their turn, and messages that
 * are not whole or have not been taken. Each stream has bounds of its own, but 128 streams would come to gigabytes.
 */
export class AssemblyBudget {
  readonly #limitBytes: number;
  #heldBytes = 0;

  /** @param limitBytes Most bytes that are held. */
  constructor(limitBytes: number = MAX_ASSEMBLED_BYTES) {
    this.#limitBytes = limitBytes;
  }

  get heldBytes(): number {
    return this.#heldBytes;
  }

  /** @returns False: there is no room for so much more, and nothing has been taken. Then the one who asked must end. */
  take(bytes: number): boolean {
    if (this.#heldBytes + bytes > this.#limitBytes) return false;
    this.#heldBytes += bytes;
    return true;
  }

  give(bytes: number): void {
    this.#heldBytes -= bytes;
  }
}
