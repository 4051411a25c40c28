import { type Clock, systemClock, type Timer } from "../../../lib/clock.ts";

/** The machine's clock, and how many of its timers are still due. */
export class CountingClock implements Clock {
  #pending = new Set<object>();

  get pendingTimers(): number {
    return this.#pending.size;
  }

  now(): number {
    return systemClock.now();
  }

  after(ms: number, act: () => void): Timer {
    const entry = {};
    this.#pending.add(entry);
    const timer = systemClock.after(ms, () => {
      this.#pending.delete(entry);
      act();
    });
    return {
      cancel: () => {
        this.#pending.delete(entry);
        timer.cancel();
      },
    };
  }
}
