import * as calls from "../../linux/file_calls.ts";
import type { Bytes } from "../../linux/libc.ts";

/** Filled and read within one call. */
const status = new calls.FileStatus();

/**
 * The kind of a file as directories tell it, `DT_…`, or a negated error number.
 *
 * @param flags AT_SYMLINK_NOFOLLOW for the kind of a link itself.
 */
export function typeAt(at: number, name: Bytes, flags: number): number {
  const result = calls.statusAt(at, name, flags, status);
  return result < 0 ? result : status.kind >> 12; // the kinds of directories are those of modes
}
