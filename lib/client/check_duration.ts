/** The longest that timers of the platform wait; what is longer they take for nothing. */
const MAX_TIMER_MS = 2 ** 31 - 1;

/** @throws {RangeError} If `ms` is not a duration that a timer can wait. */
export function checkDuration(name: string, ms: number): void {
  if (ms >= 0 && ms <= MAX_TIMER_MS) return;
  throw new RangeError(`${name} must be from 0 to ${MAX_TIMER_MS} milliseconds, not ${ms}`);
}
