import { EISDIR, ELOOP, ENOENT, ENOTDIR } from "../../linux/errno.ts";
import * as calls from "../../linux/file_calls.ts";
import type { Bytes } from "../../linux/libc.ts";
import { checked } from "../os_error.ts";
import type { Deleter } from "./deleter.ts";
import { DirectoryReader, DT_DIR } from "./directory_reader.ts";
import { type Level, Levels } from "./levels.ts";
import { type Identity, LISTING, OpenDirectory } from "./open_directory.ts";
import { refuseRoot, rootIdentity } from "./root_guard.ts";
import type { Steps } from "../steps.ts";

/**
 * Removes a directory and all that is in it, down from one descriptor to the next, so that no link is followed, whoever
 * puts it there meanwhile. The first failure ends it; what is gone by then stays gone. What others remove meanwhile is no
 * failure.
 *
 * @param at The descriptor of the directory that it is in.
 * @param name Its name there, with a NUL.
 * @throws {ExecError} What the system says; `invalidRequest` at the root directory.
 */
export function* removeTree(at: number, name: Bytes, deleter: Deleter): Steps<void> {
  const root = rootIdentity();
  using levels = new Levels<RemovalLevel>();
  const top = checked(calls.openAt(at, name, LISTING | calls.O_NOFOLLOW));
  yield* levels.push(new RemovalLevel(new OpenDirectory(top), name, root));
  while (levels.depth > 0) {
    const level = levels.current;
    if (level.reader.advance()) {
      yield* removeChild(level, levels, root, deleter);
    } else {
      levels.pop();
      const parent = levels.depth === 0 ? at : levels.current.fd;
      const result = yield* deleter.removeDirectory(parent, level.name);
      if (result !== -ENOENT) checked(result);
    }
    yield;
  }
}

/** Removes what the reader of a level is at; a directory with something in it becomes the next level. */
function* removeChild(
  level: RemovalLevel,
  levels: Levels<RemovalLevel>,
  root: Identity,
  deleter: Deleter,
): Steps<void> {
  const { name, type } = level.reader;
  let result = type === DT_DIR ? -EISDIR : yield* deleter.unlink(level.fd, name);
  if (result === -EISDIR) {
    const fd = calls.openAt(level.fd, name, LISTING | calls.O_NOFOLLOW);
    if (fd >= 0) return yield* levels.push(new RemovalLevel(new OpenDirectory(fd), name.slice(), root));
    // Somebody has put something else in its place.
    result = fd === -ENOTDIR || fd === -ELOOP ? yield* deleter.unlink(level.fd, name) : fd;
  }
  if (result !== -ENOENT) checked(result);
}

class RemovalLevel implements Level {
  readonly name: Bytes;
  readonly reader: DirectoryReader;
  #directory: OpenDirectory;
  #parked: Identity | null = null;

  /** Takes the directory over. */
  constructor(directory: OpenDirectory, name: Bytes, root: Identity) {
    this.name = name;
    this.#directory = directory;
    this.reader = new DirectoryReader(directory.fd);
    try {
      refuseRoot(directory, root);
    } catch (error) {
      this[Symbol.dispose]();
      throw error;
    }
  }

  get fd(): number {
    return this.#directory.fd;
  }

  *park(): Steps<void> {
    if (this.#parked !== null) return;
    this.#parked = this.#directory.identity();
    yield* this.reader.readAhead();
    this.#directory[Symbol.dispose]();
  }

  unpark(below: RemovalLevel): void {
    if (this.#parked === null) return;
    this.#directory = below.#directory.above(this.#parked);
    this.#parked = null;
  }

  [Symbol.dispose](): void {
    this.reader[Symbol.dispose]();
    this.#directory[Symbol.dispose]();
  }
}
