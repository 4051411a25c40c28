import type { Clock, Timer } from "./clock.ts";

/** Longest delay that the platform's timers take (a signed 32-bit number of ms, 24.8 days); more would fire at once. */
const LONGEST_TIMER_MS = 2 ** 31 - 1;

/** {@linkcode Clock.after} for any number of milliseconds. */
export function afterLong(clock: Clock, ms: number, act: () => void): Timer {
  let timer: Timer;
  const sleep = (left: number): void => {
    const step = Math.min(left, LONGEST_TIMER_MS);
    timer = clock.after(step, () => left > step ? sleep(left - step) : act());
  };
  sleep(ms);
  return { cancel: () => timer.cancel() };
}
