import { elsewhere, type Steps } from "../steps.ts";

/** Calls that take longer on average had better be made by another thread, which costs some 50 µs. */
const SLOW_MS = 0.2;
/** How many calls are made by another thread before one is tried here again. */
const CALLS_ELSEWHERE = 64;
/**
 * What one call counts in the average. Time is mostly lost to few calls (measured when ext4 makes files: two of a hundred
 * take 25 ms), and others meet just those.
 */
const WEIGHT = 1 / 8;

/**
 * Makes calls of one kind in this thread while they are quick, and on another one while they are not. How long a call takes
 * is up to the file system: some need a millisecond for a new file, or a network.
 */
export class PacedCalls {
  readonly #now: () => number;
  #averageMs = 0;
  #elsewhere = 0;

  /** @param now Milliseconds that never run backwards. */
  constructor(now: () => number = () => performance.now()) {
    this.#now = now;
  }

  /**
   * @param here Makes the call.
   * @param there Makes the same call on another thread.
   */
  *make<T>(here: () => T, there: () => Promise<T>): Steps<T> {
    if (this.#elsewhere > 0) {
      this.#elsewhere--;
      return yield* elsewhere(there());
    }
    const began = this.#now();
    const result = here();
    this.#averageMs += (this.#now() - began - this.#averageMs) * WEIGHT;
    if (this.#averageMs > SLOW_MS) this.#elsewhere = CALLS_ELSEWHERE;
    return result;
  }
}
