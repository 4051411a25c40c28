import { closeInBackground } from "../../linux/file_calls.ts";
import { close } from "../../linux/libc.ts";

/**
 * What holds more is closed on another thread: the close may free a file that has been removed, or begin to write out one
 * that has been written (measured: 0.1 ms for each MiB).
 */
const LARGE_BYTES = 16 * 1024 * 1024;

/**
 * Closes a file; there is nothing to report, since Linux frees the number whatever it says.
 *
 * @param size How large the file is, as far as we know.
 * @returns A promise if another thread does it.
 */
export function closeFile(fd: number, size: number): Promise<void> | undefined {
  if (size > LARGE_BYTES) return closeInBackground(fd);
  close(fd);
  return undefined;
}
