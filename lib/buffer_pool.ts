/**
 * Buffers that are used again. The pages of a fresh megabyte come from the system one by one, which takes ten times as
 * long as filling it (0.5 ms, measured).
 */

/** Shorter buffers are cheap, longer ones rare. A file of two MiB and the byte that shows its end fit. */
const SHORTEST_BYTES = 64 * 1024;
const POOLED_BYTES = 2 * 1024 * 1024 + 4096;
/** How many wait for their next use; a connection that works on one block after the other needs one. */
const MAX_FREE = 4;

const free: ArrayBuffer[] = [];

/** A buffer of this length. It may hold what was in it before: fill it before it is read. */
export function borrowBuffer(length: number): Uint8Array<ArrayBuffer> {
  if (length < SHORTEST_BYTES || length > POOLED_BYTES) return new Uint8Array(length);
  return new Uint8Array(free.pop() ?? new ArrayBuffer(POOLED_BYTES), 0, length);
}

/**
 * Gives a buffer back; nobody may look at it any more. Whoever cannot tell keeps it: then the engine collects it.
 *
 * @param bytes Any part of a buffer; one that was not borrowed is let go.
 */
export function returnBuffer(bytes: Uint8Array<ArrayBuffer>): void {
  const { buffer } = bytes;
  if (buffer.byteLength === POOLED_BYTES && free.length < MAX_FREE && !free.includes(buffer)) free.push(buffer);
}
