import type { Clock } from "../clock.ts";
import { afterLong } from "../long_timer.ts";

/**
 * Those who wait for news of one process. Each belongs to a request and leaves with it, so their number is bounded by
 * the requests that may run at once.
 */
export class LongPolls implements Disposable {
  readonly #clock: Clock;
  readonly #waiting = new Set<LongPoll>();

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** How many wait. */
  get size(): number {
    return this.#waiting.size;
  }

  /**
   * Resolves when `isReady` says so at a {@linkcode wake}, when `waitMs` have passed (any number of ms), or at the
   * disposal.
   *
   * @throws The signal's reason if it is aborted first; no timer is left.
   */
  wait(isReady: () => boolean, waitMs: number, signal: AbortSignal): Promise<void> {
    return new Promise((resolve, reject) => {
      if (signal.aborted) return reject(signal.reason);
      const leave = (): void => {
        this.#waiting.delete(poll);
        timer.cancel();
        signal.removeEventListener("abort", onAbort);
      };
      const poll: LongPoll = {
        isReady,
        finish(): void {
          leave();
          resolve();
        },
      };
      const onAbort = (): void => {
        leave();
        reject(signal.reason);
      };
      this.#waiting.add(poll);
      signal.addEventListener("abort", onAbort);
      const timer = afterLong(this.#clock, waitMs, () => poll.finish());
    });
  }

  /** Something happened: whoever is ready stops waiting. */
  wake(): void {
    for (const poll of this.#waiting) {
      if (poll.isReady()) poll.finish();
    }
  }

  /** Nothing will happen any more: nobody waits on. */
  [Symbol.dispose](): void {
    for (const poll of this.#waiting) poll.finish();
  }
}

interface LongPoll {
  isReady(): boolean;
  finish(): void;
}
