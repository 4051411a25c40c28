import { type Clock, waitingClock } from "../../../lib/clock.ts";

/** Longer delays are time limits, which a test on a busy machine must not meet. */
const LONGEST_PAUSE_MS = 5_000;
const HASTE = 10;

/** Pauses between attempts pass ten times as fast; time limits are as long as they are. */
export const hastyClock: Clock = {
  now: () => waitingClock.now(),
  after: (ms, act) => waitingClock.after(ms > LONGEST_PAUSE_MS ? ms : ms / HASTE, act),
};
