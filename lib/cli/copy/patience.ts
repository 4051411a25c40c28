import type { Clock } from "../../clock.ts";

/** How long tidying up on the other side may take once we are to end, in milliseconds. */
export const TIDY_MS = 5_000;

export interface Patience extends Disposable {
  /** Aborted, for the same reason, when nothing of the other side is waited for any more. */
  readonly over: AbortSignal;
}

/**
 * How long an interrupted copy waits for the other side: as long as tidying up may take, or not at all while the link is
 * lost, since it can take very long to come back.
 */
export function patience(signal: AbortSignal, isLinked: () => boolean, clock: Clock): Patience {
  const over = new AbortController();
  let timer: ReturnType<Clock["after"]> | undefined;
  const end = () => over.abort(signal.reason);
  const abort = () => {
    if (isLinked()) timer = clock.after(TIDY_MS, end);
    else end();
  };
  signal.addEventListener("abort", abort, { once: true });
  return {
    over: over.signal,
    [Symbol.dispose]() {
      signal.removeEventListener("abort", abort);
      timer?.cancel();
    },
  };
}
