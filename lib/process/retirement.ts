import type { Clock, Timer } from "../clock.ts";
import { afterLong } from "../long_timer.ts";

/** How long a closed process can still be read and its id is taken, in ms. Source: the reference's figure. */
export const CLOSED_RETENTION_MS = 80_000;
/** Closed processes that are kept for longer than that, if that was asked for; the oldest go first. Each has 1 MiB at most. */
export const MAX_KEPT_LONGER = 256;

/**
 * Those that are kept for a while after their end: for {@linkcode CLOSED_RETENTION_MS}, or longer on demand. The clock
 * decides; the one timer only gives the memory back.
 */
export class Retirement<T> implements Disposable {
  readonly #clock: Clock;
  readonly #forget: (item: T) => void;
  /** When they ended, in that order: those that the usual time keeps, and those that are kept beyond it. */
  readonly #recent = new Map<T, number>();
  readonly #kept = new Map<T, number>();
  #keepMs = CLOSED_RETENTION_MS;
  #timer: Timer | null = null;

  /** @param forget Hears of everyone whose time is over, except by {@linkcode Retirement.isOver}. */
  constructor(clock: Clock, forget: (item: T) => void) {
    this.#clock = clock;
    this.#forget = forget;
  }

  /** It has ended now. */
  add(item: T): void {
    this.#recent.set(item, this.#clock.now());
    // With others before it the timer is due in time; one for those that are kept may be due much later.
    if (this.#recent.size > 1) return;
    this.#timer?.cancel();
    this.#schedule();
  }

  /** Whether the time of one that ended is over. */
  isOver(item: T): boolean {
    const endedAt = this.#recent.get(item) ?? this.#kept.get(item);
    return endedAt !== undefined && this.#clock.now() - endedAt >= this.#keepMs;
  }

  /** Somebody else has forgotten it. */
  delete(item: T): void {
    this.#recent.delete(item);
    this.#kept.delete(item);
  }

  /** How long to keep everyone, those included who are here; never shorter than usual. */
  keepFor(ms: number): void {
    this.#keepMs = Math.max(ms, CLOSED_RETENTION_MS);
    this.#timer?.cancel();
    this.#sweep();
  }

  [Symbol.dispose](): void {
    this.#timer?.cancel();
    this.#recent.clear();
    this.#kept.clear();
  }

  #sweep(): void {
    this.#timer = null;
    const now = this.#clock.now();
    for (const [item, endedAt] of this.#recent) {
      if (now - endedAt < CLOSED_RETENTION_MS) break;
      this.#recent.delete(item);
      this.#kept.set(item, endedAt);
    }
    for (const [item, endedAt] of this.#kept) {
      if (now - endedAt < this.#keepMs && this.#kept.size <= MAX_KEPT_LONGER) break;
      this.#kept.delete(item);
      this.#forget(item);
    }
    this.#schedule();
  }

  #schedule(): void {
    const [recent] = this.#recent.values();
    const [kept] = this.#kept.values();
    const due = Math.min((recent ?? Infinity) + CLOSED_RETENTION_MS, (kept ?? Infinity) + this.#keepMs);
    this.#timer = due === Infinity
      ? null
      : afterLong(this.#clock, Math.max(due - this.#clock.now(), 0), () => this.#sweep());
  }
}
