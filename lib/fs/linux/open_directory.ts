import { cString } from "../../linux/cstring.ts";
import { ESTALE } from "../../linux/errno.ts";
import * as calls from "../../linux/file_calls.ts";
import { type Bytes, close, O_CLOEXEC, O_DIRECTORY, O_RDONLY } from "../../linux/libc.ts";
import { checked, OsError } from "../os_error.ts";

/** For reading its entries. */
export const LISTING = O_RDONLY | O_DIRECTORY | O_CLOEXEC;
/** For looking up names in it only, which asks for no permission to read it. */
export const LOOKING_UP = calls.O_PATH | O_DIRECTORY | O_CLOEXEC;

const ITSELF = cString("");
const PARENT = cString("..");

/** Filled and read within one step. */
const status = new calls.FileStatus();

/** A directory by its descriptor: whatever happens to its name, it stays the one that was opened. */
export class OpenDirectory implements Disposable {
  #fd: number;

  /** @param fd Is taken over. */
  constructor(fd: number) {
    this.#fd = fd;
  }

  /**
   * @param at A descriptor that `name` is looked up at unless it is an absolute path.
   * @param name Ends with a NUL.
   * @param flags {@linkcode LISTING} or {@linkcode LOOKING_UP}, perhaps with O_NOFOLLOW.
   * @throws {OsError}
   */
  static at(at: number, name: Bytes, flags: number): OpenDirectory {
    return new OpenDirectory(checked(calls.openAt(at, name, flags)));
  }

  get fd(): number {
    return this.#fd;
  }

  /** @throws {OsError} */
  identity(): Identity {
    checked(calls.statusAt(this.#fd, ITSELF, calls.AT_EMPTY_PATH, status));
    return { device: status.device, inode: status.inode };
  }

  /**
   * Finds the directory above, to look up names in it.
   *
   * @param expected Which it must be.
   * @throws {OsError} ESTALE if it is another one: the directory has been moved.
   */
  above(expected: Identity): OpenDirectory {
    const parent = OpenDirectory.at(this.#fd, PARENT, LOOKING_UP);
    if (isSame(parent.identity(), expected)) return parent;
    parent[Symbol.dispose]();
    throw new OsError(ESTALE);
  }

  [Symbol.dispose](): void {
    if (this.#fd < 0) return;
    close(this.#fd);
    this.#fd = -1;
  }
}

/** Tells a file or directory from all others that exist. */
export interface Identity {
  readonly device: bigint;
  readonly inode: bigint;
}

export function isSame(a: Identity, b: Identity): boolean {
  return a.device === b.device && a.inode === b.inode;
}
