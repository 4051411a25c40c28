/** How long something that must happen may take, in milliseconds. Generous: it is no measure of speed. */
const PATIENCE_MS = 20_000;
const INTERVAL_MS = 20;

/** What a check throws that can never come true any more. */
export class HopelessError extends Error {}

/**
 * Repeats `check` until it throws nothing, for what gives no event to wait for (the kernel's tables).
 *
 * @throws {Error} When patience ends, or at a {@linkcode HopelessError}; with the last failure as its cause.
 */
export async function eventually(what: string, check: () => void, patienceMs = PATIENCE_MS): Promise<void> {
  for (const began = performance.now();;) {
    await pause(INTERVAL_MS);
    try {
      return check();
    } catch (error) {
      if (performance.now() - began < patienceMs && !(error instanceof HopelessError)) continue;
      throw new Error(`it never came true that ${what}: ${error instanceof Error ? error.message : error}`, {
        cause: error,
      });
    }
  }
}

/** Resolves after `ms` milliseconds. */
export function pause(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, ms));
}

/**
 * The value of `promise`, or a failure that says what was awaited in vain. The promise goes on: give it an end.
 *
 * @throws {Error} When patience ends.
 */
export async function inTime<T>(what: string, promise: Promise<T>, patienceMs = PATIENCE_MS): Promise<T> {
  const late = Promise.withResolvers<never>();
  const timer = setTimeout(() => late.reject(new Error(`waited in vain for ${what}`)), patienceMs);
  try {
    return await Promise.race([promise, late.promise]);
  } finally {
    clearTimeout(timer);
  }
}
