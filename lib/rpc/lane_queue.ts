/** Requests of one lane: some run, the rest wait in the order in which they came. */
export class LaneQueue {
  running = 0;
  #waiting: (() => Promise<void> | undefined)[] = [];

  /** Counts a request that has been begun, and may be done already. */
  run(turn: Promise<void> | undefined): void {
    if (turn === undefined) return;
    this.running++;
    turn.then(() => this.#next());
  }

  /** Unbounded by itself: what waits here counts as unanswered input of the connection. */
  wait(begin: () => Promise<void> | undefined): void {
    this.#waiting.push(begin);
  }

  #next(): void {
    this.running--;
    let begin: (() => Promise<void> | undefined) | undefined;
    while ((begin = this.#waiting.shift()) !== undefined) {
      const turn = begin();
      if (turn !== undefined) return this.run(turn);
    }
  }
}
