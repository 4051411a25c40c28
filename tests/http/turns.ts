/** Waiting for what gives no event: that nothing more happens. */

/** The value that has not changed for a hundred turns of the event loop. */
export async function untilSteady(value: () => number): Promise<number> {
  for (let last = value(), turns = 0;; last = value()) {
    await new Promise((resolve) => setTimeout(resolve, 1));
    turns = value() === last ? turns + 1 : 0;
    if (turns === 100) return last;
  }
}
