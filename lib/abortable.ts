import type { Clock } from "./clock.ts";

/**
 * Waits for a promise until the signal is aborted. What becomes of the promise afterwards is nobody's concern here; a
 * late rejection is not reported as unhandled.
 *
 * @throws The promise's own reason, or the signal's.
 */
export function abortable<T>(promise: Promise<T>, signal: AbortSignal | undefined): Promise<T> {
  if (signal === undefined) return promise;
  return new Promise((resolve, reject) => {
    const abort = () => reject(signal.reason);
    if (signal.aborted) abort();
    else signal.addEventListener("abort", abort, { once: true });
    promise.then(resolve, reject).finally(() => signal.removeEventListener("abort", abort));
  });
}

/** Resolves after `ms` milliseconds. @throws The signal's reason if it is aborted before; no timer is left. */
export function pause(clock: Clock, ms: number, signal: AbortSignal): Promise<void> {
  const { promise, resolve } = Promise.withResolvers<void>();
  const timer = clock.after(ms, resolve);
  return abortable(promise, signal).finally(() => timer.cancel());
}
