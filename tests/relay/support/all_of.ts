/**
 * Waits for all of them, also when one has failed, so that nothing of a failed test goes on in the next one.
 *
 * @throws What the first of them in their order was rejected with.
 */
export async function allOf(work: readonly Promise<void>[]): Promise<void> {
  for (const outcome of await Promise.allSettled(work)) if (outcome.status === "rejected") throw outcome.reason;
}
