import { truncate, truncateInBackground } from "../../linux/file_calls.ts";
import type { MaybePromise } from "../operations.ts";
import { checked } from "../os_error.ts";

/** A file of this size is emptied on another thread: to give its space back takes longer (measured: 3 ms). */
const LARGE_BYTES = 4 * 1024 * 1024;

/** Takes all its bytes from a file. */
export function emptyFile(fd: number, size: number): MaybePromise<void> {
  if (size < LARGE_BYTES) void checked(truncate(fd, 0));
  else return truncateInBackground(fd, 0).then((result) => void checked(result));
}
