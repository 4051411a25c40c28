import { Mismatch } from "./mismatch.ts";

/**
 * How long anything expected may take, in milliseconds. It only bounds a failure: waits end when the thing happens.
 * Generous, because recordings are replayed several at a time on machines that are busy.
 */
export const DEADLINE_MS = 30_000;

/** Resolves or rejects as `promise` does. @throws {Mismatch} If that takes longer than `ms`. */
export async function within<T>(promise: Promise<T>, what: string, ms = DEADLINE_MS): Promise<T> {
  const { promise: late, reject } = Promise.withResolvers<never>();
  const timer = setTimeout(() => reject(new Mismatch(`no ${what} within ${ms} ms`)), ms);
  try {
    return await Promise.race([promise, late]);
  } finally {
    clearTimeout(timer);
  }
}

/** Resolves after `ms` milliseconds. */
export function sleep(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, ms));
}
