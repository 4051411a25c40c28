/** After this long of answering without a break the event loop gets a turn, so that other connections stay quick. */
const SLICE_MS = 5;

/**
 * Begins a slice of work.
 *
 * @param now Milliseconds that never run backwards.
 * @returns To be asked after each piece: gives a promise when it is the others' turn.
 */
export function turnSlice(now: () => number): () => Promise<void> | undefined {
  const began = now();
  return () => now() - began > SLICE_MS ? nextTurn() : undefined;
}

/** Resolves after the event loop has looked at its other business. */
function nextTurn(): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, 0));
}
