import { Fifo } from "../../fifo.ts";

interface Waiting {
  readonly enter: () => void;
}

/** So many at a time, the others after them in the order in which they came. As many wait as there are requests. */
export class Places {
  #free: number;
  readonly #waiting = new Fifo<Waiting>();

  constructor(count: number) {
    this.#free = count;
  }

  /**
   * Does something in a place of its own.
   *
   * @throws The reason of the signal if that is aborted before there is one.
   */
  async during<T>(signal: AbortSignal, act: () => Promise<T>): Promise<T> {
    signal.throwIfAborted();
    if (this.#free > 0) this.#free--;
    else await this.#wait(signal);
    try {
      return await act();
    } finally {
      this.#leave();
    }
  }

  #wait(signal: AbortSignal): Promise<void> {
    const { promise, resolve, reject } = Promise.withResolvers<void>();
    let isOver = false;
    const abort = (): void => {
      isOver = true;
      reject(signal.reason);
    };
    signal.addEventListener("abort", abort, { once: true });
    this.#waiting.push({
      enter: () => {
        // Who has gone meanwhile gives the place to the next.
        if (isOver) return this.#leave();
        signal.removeEventListener("abort", abort);
        resolve();
      },
    });
    return promise;
  }

  #leave(): void {
    const next = this.#waiting.shift();
    if (next === undefined) this.#free++;
    else next.enter();
  }
}
