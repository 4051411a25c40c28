/** Requests of one lane: some run, the rest wait in the order in which they came. */
export class LaneQueue {
  running = 0;
  /** How many of each method wait; a few dozen names at most, since unknown ones have no lane. */
  readonly #waitingOf = new Map<string, number>();
  #waiting: { readonly method: string; begin(): Promise<void> | undefined }[] = [];

  /** Counts a request that has been begun, and may be done already. */
  run(turn: Promise<void> | undefined): void {
    if (turn === undefined) return;
    this.running++;
    turn.then(() => this.#next());
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

  #next(): void {
    this.running--;
    let next;
    while ((next = this.#waiting.shift()) !== undefined) {
      this.#count(next.method, -1);
      const turn = next.begin();
      if (turn !== undefined) return this.run(turn);
    }
  }
}
