import { RECONNECT_FIRST_MS, RECONNECT_LONGEST_MS, RETRY_FIRST_MS, RETRY_LONGEST_MS } from "./limits.ts";

/** A number in [0, 1), like `Math.random`; passed in so that a test knows it. */
export type Random = () => number;

/** Waiting times that double with each attempt up to a longest one, each with a random part of half of it. */
export class Backoff {
  readonly #firstMs: number;
  readonly #longestMs: number;
  readonly #least: number;
  readonly #random: Random;
  #ms: number;

  /**
   * @param firstMs What the first waiting time is drawn by.
   * @param longestMs What it grows to.
   * @param least The shortest time that may be drawn, as a part of this.
   */
  constructor(firstMs: number, longestMs: number, least: number, random: Random) {
    this.#firstMs = firstMs;
    this.#longestMs = longestMs;
    this.#least = least;
    this.#random = random;
    this.#ms = firstMs;
  }

  /** How many milliseconds to wait before the next attempt. */
  next(): number {
    const ms = this.#ms;
    this.#ms = Math.min(2 * ms, this.#longestMs);
    return Math.round(ms * this.#least + this.#random() * ms / 2);
  }

  /** The next waiting time is a first one again. */
  reset(): void {
    this.#ms = this.#firstMs;
  }
}

/** For a rendezvous: d = 1, 2, 4, 8, 16, 30, 30 … s, uniform in [d/2, d]. */
export function reconnectBackoff(random: Random): Backoff {
  return new Backoff(RECONNECT_FIRST_MS, RECONNECT_LONGEST_MS, 1 / 2, random);
}

/** For registrations and the direct transport: d = 500, 1000, 2000, 4000, 5000, 5000 … ms, uniform in [d, 1.5 d]. */
export function retryBackoff(random: Random): Backoff {
  return new Backoff(RETRY_FIRST_MS, RETRY_LONGEST_MS, 1, random);
}
