import type { Clock, Timer } from "../../lib/clock.ts";

/** Time that passes only when a test says so. Timers act in the order in which they are due. */
export class ManualClock implements Clock {
  #now = 0;
  #due: { readonly at: number; readonly act: () => void }[] = [];

  /** Timers that have neither acted nor been cancelled. */
  get pendingTimers(): number {
    return this.#due.length;
  }

  /** When the next timer will act; undefined: there is none. */
  get nextAt(): number | undefined {
    return this.#due[0]?.at;
  }

  now(): number {
    return this.#now;
  }

  /** @throws {RangeError} If the platform's timers would not take the delay (more than 2^31 - 1 ms). */
  after(ms: number, act: () => void): Timer {
    if (!(ms >= 0 && ms < 2 ** 31)) throw new RangeError(`a timer cannot wait ${ms} ms`);
    const timer = { at: this.#now + ms, act };
    this.#due.push(timer);
    this.#due.sort((a, b) => a.at - b.at);
    return {
      cancel: () => {
        this.#due = this.#due.filter((other) => other !== timer);
      },
    };
  }

  /** Lets time pass; what falls due on the way, acts at its time. */
  advance(ms: number): void {
    const end = this.#now + ms;
    for (let next = this.#due[0]; next !== undefined && next.at <= end; next = this.#due[0]) {
      this.#due.shift();
      this.#now = next.at;
      next.act();
    }
    this.#now = end;
  }

  /** Lets time pass without any timer acting: the machine was too busy. */
  skip(ms: number): void {
    this.#now += ms;
  }
}
