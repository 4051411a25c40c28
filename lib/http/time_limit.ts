import type { Clock, Timer } from "../clock.ts";

/** What a timer can count, in milliseconds: 24 days. A longer limit is none. */
const MAX_TIMER_MS = 2 ** 31 - 1;

/** Aborts what takes too long, or what nobody waits for any more. */
export class TimeLimit implements Disposable {
  readonly #aborter = new AbortController();
  readonly #timer: Timer | undefined;
  readonly #outer: AbortSignal;
  readonly #stop = () => {
    this.#timer?.cancel();
    this.#aborter.abort(this.#outer.reason);
  };

  constructor(clock: Clock, ms: number | null, outer: AbortSignal) {
    this.#outer = outer;
    outer.addEventListener("abort", this.#stop, { once: true });
    if (outer.aborted) this.#stop();
    if (ms !== null && ms <= MAX_TIMER_MS) {
      this.#timer = clock.after(ms, () => this.#aborter.abort(new DOMException("timed out", "TimeoutError")));
    }
  }

  get signal(): AbortSignal {
    return this.#aborter.signal;
  }

  /** Nobody waits for it any more. */
  abort(): void {
    this.#stop();
  }

  [Symbol.dispose](): void {
    this.#timer?.cancel();
    this.#outer.removeEventListener("abort", this.#stop);
  }
}
