import { elsewhere, type Steps } from "./steps.ts";

/** A call that takes longer had better be made by another thread, which costs some 50 µs. */
const SLOW_MS = 0.25;
/** How many calls are made by another thread before it is tried here again. */
const CALLS_ELSEWHERE = 64;

/**
 * Makes calls of one kind in this thread while they are quick, and on another one while they are not. How long a call takes
 * is up to the file system: some need a millisecond for a new file, or a network.
 */
export class PacedCalls {
  #elsewhere = 0;

  /**
   * @param here Makes the call.
   * @param there Makes the same call on another thread.
   */
  *make<T>(here: () => T, there: () => Promise<T>): Steps<T> {
    if (this.#elsewhere > 0) {
      this.#elsewhere--;
      return yield* elsewhere(there());
    }
    const began = performance.now();
    const result = here();
    if (performance.now() - began > SLOW_MS) this.#elsewhere = CALLS_ELSEWHERE;
    return result;
  }
}
