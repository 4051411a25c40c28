/** How large a file may be to be read whole, and what a larger one is refused with. */

import { ExecError } from "../errors.ts";

/** The reference's limit. */
export const REFERENCE_LIMIT_BYTES = 512 * 1024 * 1024;

/**
 * Ours: the base64 of it, with 1.4 million characters to spare for the message around it, is as long as a string of the
 * engine can be (2^29 − 24).
 */
export const READ_LIMIT_BYTES = 383 * 1024 * 1024;

/**
 * @param size What the file has, or is known to have at least.
 * @throws {ExecError} `invalidRequest`, with the limit that does not hold.
 */
export function checkReadLimit(size: number): void {
  if (size <= READ_LIMIT_BYTES) return;
  const limit = size > REFERENCE_LIMIT_BYTES ? REFERENCE_LIMIT_BYTES : READ_LIMIT_BYTES;
  throw new ExecError("invalidRequest", `file is too large to read: limit is ${limit} bytes`);
}
