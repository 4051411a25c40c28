import * as calls from "../../linux/file_calls.ts";
import { type Bytes, O_CLOEXEC } from "../../linux/libc.ts";
import { elsewhere, type Steps } from "./steps.ts";

/** What cannot be undone; replaced in tests. Both return 0 or a negated error number. */
export interface Deleter {
  /** Removes a name that is no directory's. */
  unlink(directory: number, name: Bytes): number;
  /** Removes an empty directory. */
  removeDirectory(directory: number, name: Bytes): number;
}

export const systemDeleter: Deleter = {
  unlink: (directory, name) => calls.unlinkAt(directory, name, 0),
  removeDirectory: (directory, name) => calls.unlinkAt(directory, name, calls.AT_REMOVEDIR),
};

/** A file that holds more takes longer to free than others should wait (measured: 0.1 ms for each MiB). */
const LARGE_BYTES = 16 * 1024 * 1024;

/** Filled and read within one step. */
const status = new calls.FileStatus();

/**
 * Removes a name that is no directory's. A large file is held until its name is gone, and then freed on another thread.
 *
 * @returns 0 or a negated error number.
 */
export function* unlink(directory: number, name: Bytes, deleter: Deleter): Steps<number> {
  const looked = calls.statusAt(directory, name, calls.AT_SYMLINK_NOFOLLOW, status);
  if (looked < 0 || status.size <= LARGE_BYTES) return deleter.unlink(directory, name);
  const held = calls.openAt(directory, name, calls.O_PATH | calls.O_NOFOLLOW | O_CLOEXEC);
  const result = deleter.unlink(directory, name);
  if (held >= 0) yield* elsewhere(calls.closeInBackground(held));
  return result;
}
