import { Fifo } from "../fifo.ts";
import { turnSlice } from "./turn_slice.ts";

interface Waiting {
  readonly method: string;
  begin(): Promise<void> | undefined;
}

/** Requests of one lane: some run, the rest wait in the order in which they came. */
export class LaneQueue {
  readonly #concurrency: number;
  readonly #now: () => number;
  #running = 0;
  /** Others have their turn now. */
  #pausing = false;
  /** How many of each method wait; a few dozen names at most, since unknown ones have no lane. */
  readonly #waitingOf = new Map<string, number>();
  readonly #waiting = new Fifo<Waiting>();

  /**
   * @param concurrency How many may run at once.
   * @param now Milliseconds that never run backwards.
   */
  constructor(concurrency: number, now: () => number) {
    this.#concurrency = concurrency;
    this.#now = now;
  }

  /** Whether a request has to wait now. */
  get full(): boolean {
    return this.#running >= this.#concurrency || this.#waiting.length > 0;
  }

  /** Counts a request that has been begun, and may be done already. */
  run(turn: Promise<void> | undefined): void {
    if (turn === undefined) return;
    this.#running++;
    void turn.then(() => {
      this.#running--;
      this.#beginWaiting();
    });
  }

  /** Unbounded by itself: what waits here counts as unanswered input of the connection. */
  wait(method: string, begin: () => Promise<void> | undefined): void {
    this.#waiting.push({ method, begin });
    this.#count(method, 1);
  }

  /** Whether a request of such a method waits. */
  holds(isMeant: (method: string) => boolean): boolean {
    return [...this.#waitingOf].some(([method, count]) => count > 0 && isMeant(method));
  }

  #count(method: string, change: 1 | -1): void {
    this.#waitingOf.set(method, (this.#waitingOf.get(method) ?? 0) + change);
  }

  /** Those that are answered at once can be thousands: others get their turn between them. */
  #beginWaiting(): void {
    if (this.#pausing) return;
    const pause = turnSlice(this.#now);
    while (this.#running < this.#concurrency) {
      const next = this.#waiting.shift();
      if (next === undefined) return;
      this.#count(next.method, -1);
      this.run(next.begin());
      if (this.#waiting.length === 0) return;
      const others = pause();
      if (others === undefined) continue;
      this.#pausing = true;
      void others.then(() => {
        this.#pausing = false;
        this.#beginWaiting();
      });
      return;
    }
  }
}
