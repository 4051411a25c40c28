import { abortable } from "./abortable.ts";

/** So many at once; the others wait in line, and are as many as callers wait. */
export class Permits {
  #free: number;
  /** In the order in which they came; a set, because any of them may give up. */
  readonly #waiting = new Set<() => void>();

  constructor(count: number) {
    this.#free = count;
  }

  /** Does something when it is its turn. @throws What `act` throws; or the signal's reason before it has begun. */
  async during<T>(act: () => Promise<T>, signal?: AbortSignal): Promise<T> {
    signal?.throwIfAborted();
    if (this.#free > 0) this.#free--;
    else await this.#turn(signal);
    try {
      return await act();
    } finally {
      this.#pass();
    }
  }

  async #turn(signal: AbortSignal | undefined): Promise<void> {
    const { promise, resolve } = Promise.withResolvers<void>();
    this.#waiting.add(resolve);
    try {
      await abortable(promise, signal);
    } catch (error) {
      // The turn had come already: it is the next one's.
      if (!this.#waiting.delete(resolve)) this.#pass();
      throw error;
    }
  }

  #pass(): void {
    const [next] = this.#waiting;
    if (next === undefined) {
      this.#free++;
      return;
    }
    this.#waiting.delete(next);
    next();
  }
}
