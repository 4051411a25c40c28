/**
 * Longer work gives way to others now and then: it asks {@linkcode Slice.pause} after each small step and awaits what it
 * gets.
 */
export class Slice {
  #began = performance.now();
  readonly #budgetMs: () => number;
  readonly #giveWay: () => Promise<void>;

  /**
   * @param budgetMs How long to work without a break, in milliseconds; asked at each step.
   * @param giveWay Resolves when the event loop has looked at its other business.
   */
  constructor(budgetMs: () => number, giveWay: () => Promise<void>) {
    this.#budgetMs = budgetMs;
    this.#giveWay = giveWay;
  }

  /**
   * A promise when it is the others' turn. It rejects with the reason of `signal` if that is aborted by then.
   */
  pause(signal: AbortSignal): Promise<void> | undefined {
    if (performance.now() - this.#began < this.#budgetMs()) return undefined;
    return this.#pause(signal);
  }

  async #pause(signal: AbortSignal): Promise<void> {
    await this.#giveWay();
    signal.throwIfAborted();
    this.#began = performance.now();
  }
}
