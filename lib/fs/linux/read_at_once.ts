import { EAGAIN, EOPNOTSUPP } from "../../linux/errno.ts";
import { preadNow } from "../../linux/file_calls.ts";
import type { Bytes } from "../../linux/libc.ts";
import { checked } from "../os_error.ts";

/** Bytes that are read in the calling thread where nobody can say whether the disk will have to be asked for them. */
const BLIND_READ_BYTES = 128 * 1024;

/**
 * Reads what can be read without waiting for the disk.
 *
 * @param offset Or `CURRENT_POSITION`.
 * @param blindly Reads all the same.
 * @returns How many bytes, 0 at the end; null if another thread should read them.
 * @throws {ExecError} What the system says.
 */
export function readAtOnce(fd: number, buffer: Bytes, offset: bigint, blindly: () => number): number | null {
  const count = preadNow(fd, buffer, offset);
  if (count === -EAGAIN) return null;
  if (count === -EOPNOTSUPP) return buffer.length > BLIND_READ_BYTES ? null : checked(blindly());
  return checked(count);
}
