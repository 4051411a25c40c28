import * as calls from "../../linux/file_calls.ts";
import { type Bytes, close, O_CLOEXEC } from "../../linux/libc.ts";
import { PacedCalls } from "./paced_calls.ts";
import { elsewhere, type Steps } from "../steps.ts";

/** What cannot be undone; replaced in tests. Both return 0 or a negated error number. */
export interface Deleter {
  /** Removes a name that is no directory's. */
  unlink(directory: number, name: Bytes): Steps<number>;
  /** Removes an empty directory. */
  removeDirectory(directory: number, name: Bytes): Steps<number>;
}

/** A file that holds more takes longer to free than others should wait (measured: 0.1 ms for each MiB). */
const LARGE_BYTES = 16 * 1024 * 1024;

/** Filled and read within one step. */
const status = new calls.FileStatus();

/** The one that really does it; one for each removal. */
export class SystemDeleter implements Deleter {
  readonly #calls = new PacedCalls();

  /** A large file is held until its name is gone, and then freed on another thread. */
  *unlink(directory: number, name: Bytes): Steps<number> {
    const looked = calls.statusAt(directory, name, calls.AT_SYMLINK_NOFOLLOW, status);
    const isLarge = looked === 0 && status.size > LARGE_BYTES;
    let held = isLarge ? calls.openAt(directory, name, calls.O_PATH | calls.O_NOFOLLOW | O_CLOEXEC) : -1;
    try {
      const result = yield* this.#remove(directory, name, 0);
      if (held < 0) return result;
      const freed = calls.closeInBackground(held);
      held = -1;
      yield* elsewhere(freed);
      return result;
    } finally {
      if (held >= 0) close(held);
    }
  }

  removeDirectory(directory: number, name: Bytes): Steps<number> {
    return this.#remove(directory, name, calls.AT_REMOVEDIR);
  }

  #remove(directory: number, name: Bytes, flags: number): Steps<number> {
    return this.#calls.make(
      () => calls.unlinkAt(directory, name, flags),
      () => calls.unlinkAtInBackground(directory, name, flags),
    );
  }
}
