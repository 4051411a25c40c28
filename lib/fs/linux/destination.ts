import { ExecError } from "../../errors.ts";
import { EEXIST, ELOOP, ENOENT, ENOSYS, ENOTDIR, EXDEV } from "../../linux/errno.ts";
import * as calls from "../../linux/file_calls.ts";
import { type Bytes, close } from "../../linux/libc.ts";
import { checked, OsError } from "../os_error.ts";
import { DIRECTORY_MODE } from "./create_directory.ts";
import { LOOKING_UP, OpenDirectory } from "./open_directory.ts";
import { PacedCalls } from "./paced_calls.ts";
import type { Steps } from "../steps.ts";

/** A directory below the top of the destination. */
export interface DestinationDirectory {
  readonly fd: number;
  /** The path of a name in it from the top on, with a NUL. */
  pathOf(name: Bytes): Bytes;
}

export interface EnteredDirectory {
  readonly directory: OpenDirectory;
  readonly throughLink: boolean;
}

/** Filled and read within one step. */
const status = new calls.FileStatus();

/**
 * The directory that a tree is copied into, and what is in it already. Links that are found in it are followed if they are
 * relative and lead to something in it; none is ever followed out of it, whoever puts it there meanwhile.
 */
export class Destination {
  readonly #top: OpenDirectory;
  readonly #newDirectories = new PacedCalls();
  readonly #files: PacedCalls;

  /** @param files Makes the calls that open files. */
  constructor(top: OpenDirectory, files: PacedCalls = new PacedCalls()) {
    this.#top = top;
    this.#files = files;
  }

  /**
   * Creates a directory, or takes the one that is there.
   *
   * @throws {ExecError} EEXIST if something else is there; `invalidRequest` for a link that leads out.
   */
  *enter(parent: DestinationDirectory, name: Bytes): Steps<EnteredDirectory> {
    const made = yield* this.#newDirectories.make(
      () => calls.makeDirectoryAt(parent.fd, name, DIRECTORY_MODE),
      () => calls.makeDirectoryAtInBackground(parent.fd, name, DIRECTORY_MODE),
    );
    if (made !== -EEXIST) checked(made);
    const found = calls.openAt(parent.fd, name, LOOKING_UP | calls.O_NOFOLLOW);
    if (found !== -ENOTDIR && found !== -ELOOP) {
      return { directory: new OpenDirectory(checked(found)), throughLink: false };
    }
    const linked = calls.openBeneath(this.#top.fd, parent.pathOf(name), LOOKING_UP);
    if (leadsOut(linked)) {
      const result = calls.statusAt(parent.fd, name, 0, status);
      if (result === 0 && status.kind === calls.S_IFDIR) throw linkNotFollowed();
      throw new OsError(EEXIST);
    }
    if (linked === -ENOTDIR || linked === -ENOENT || linked === -ELOOP) throw new OsError(EEXIST);
    return { directory: new OpenDirectory(checked(linked)), throughLink: true };
  }

  /**
   * Opens a file, as openat() does.
   *
   * @throws {ExecError} `invalidRequest` for a link that leads out.
   */
  *openFile(parent: DestinationDirectory, name: Bytes, flags: number, mode: number): Steps<number> {
    const fd = yield* this.#openItself(parent.fd, name, flags | calls.O_NOFOLLOW, mode);
    if (fd !== -ELOOP) return fd;
    const linked = calls.openBeneath(this.#top.fd, parent.pathOf(name), flags, mode);
    if (leadsOut(linked)) throw linkNotFollowed();
    return linked;
  }

  *#openItself(at: number, name: Bytes, flags: number, mode: number): Steps<number> {
    let opened = -1; // by another thread, when perhaps nobody wants it any more
    try {
      const fd = yield* this.#files.make(
        () => calls.openAt(at, name, flags, mode),
        async () => opened = await calls.openAtInBackground(at, name, flags, mode),
      );
      opened = -1;
      return fd;
    } finally {
      if (opened >= 0) close(opened);
    }
  }
}

/** Old kernels cannot tell; what they cannot tell is not followed. */
function leadsOut(result: number): boolean {
  return result === -EXDEV || result === -ENOSYS;
}

function linkNotFollowed(): ExecError {
  return new ExecError(
    "invalidRequest",
    "fs/copy does not follow symbolic links below destinationPath that are absolute or lead out of it",
  );
}
