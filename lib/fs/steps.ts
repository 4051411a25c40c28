import type { MaybePromise } from "./operations.ts";
import type { Slice } from "./slice.ts";

/**
 * Work that is done step by step: it yields after each small one, with a promise if something goes on meanwhile on
 * another thread. Leaving it early runs its `finally` blocks, and `using` lets go of what it holds.
 */
export type Steps<T> = Generator<Promise<unknown> | undefined, T, void>;

/**
 * Does the work, at once if it fits into the slice.
 *
 * @throws What the work throws, or the reason of `signal` if it is aborted: then no further step is begun.
 */
export function inSlices<T>(work: Steps<T>, slice: Slice, signal: AbortSignal): MaybePromise<T> {
  signal.throwIfAborted();
  for (;;) {
    const step = work.next();
    if (step.done) return step.value;
    const wait = step.value ?? slice.pause(signal);
    if (wait !== undefined) return goOn(work, wait, slice, signal);
  }
}

async function goOn<T>(
  work: Steps<T>,
  first: Promise<unknown>,
  slice: Slice,
  signal: AbortSignal,
): Promise<T> {
  try {
    for (let wait: Promise<unknown> | undefined = first;;) {
      if (wait !== undefined) await wait;
      signal.throwIfAborted();
      const step = work.next();
      if (step.done) return step.value;
      wait = step.value ?? slice.pause(signal);
    }
  } finally {
    work.return(undefined as never); // does nothing if it is done
  }
}

/** A step that another thread does: `yield* elsewhere(promise)`. */
export function* elsewhere<T>(promise: Promise<T>): Steps<T> {
  let outcome: PromiseSettledResult<T> | undefined;
  yield Promise.allSettled([promise]).then(([settled]) => outcome = settled);
  if (outcome!.status === "rejected") throw outcome!.reason;
  return outcome!.value;
}
