/** The places of what was taken are given back after so many; fewer cost less than moving what follows. */
const SPENT_PLACES = 1024;

/** First in, first out. Unbounded by itself: whoever fills it keeps its bounds. */
export class Fifo<T extends object | string> {
  /** The first `#head` are spent: nothing of what was taken is kept, however long others wait. */
  #items: (T | undefined)[] = [];
  #head = 0;

  get length(): number {
    return this.#items.length - this.#head;
  }

  push(item: T): void {
    this.#items.push(item);
  }

  /** Takes the oldest out. */
  shift(): T | undefined {
    const item = this.#items[this.#head];
    if (item === undefined) return undefined;
    this.#items[this.#head++] = undefined;
    if (this.#head === this.#items.length) this.clear();
    else if (this.#head >= SPENT_PLACES) {
      this.#items.splice(0, this.#head);
      this.#head = 0;
    }
    return item;
  }

  clear(): void {
    this.#items = [];
    this.#head = 0;
  }
}
