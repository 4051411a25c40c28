import { AT_FDCWD } from "../linux/file_calls.ts";
import { join, parent } from "./byte_path.ts";
import { resolve } from "./canonical_path.ts";
import { machineCalls } from "./mount_point_calls.ts";
import { existing, type OwnFile } from "./own_files.ts";
import { nameOf } from "./placeholder.ts";
import type { BytePath } from "./policy.ts";
import { realTree } from "./real_tree.ts";
import type { ServerDirectory } from "./server_directory.ts";

const PRIVATE_MODE = 0o700;

/** What nobody in a sandbox may see, whatever its policy says. */
export class HiddenFiles {
  readonly #directory: ServerDirectory;
  readonly #otherDirectories: readonly BytePath[];
  readonly #secretPaths: readonly BytePath[];

  /**
   * @param otherDirectories Where servers of the user keep the same as in ours when their environment is another one.
   * @param secretPaths Absolute.
   */
  constructor(
    directory: ServerDirectory,
    otherDirectories: readonly BytePath[],
    secretPaths: readonly BytePath[],
  ) {
    this.#directory = directory;
    this.#otherDirectories = otherDirectories;
    this.#secretPaths = secretPaths;
  }

  /**
   * All of it, as it is there now, each once.
   *
   * @throws {ExecError} `sandboxUnavailable` if our directory cannot be made: somebody inside could do it, as he likes.
   */
  now(): OwnFile[] {
    return distinct([...this.directories(), ...this.secrets()]);
  }

  /** What is to be hidden, or at least not to be written. @throws As {@linkcode now}. */
  directories(): OwnFile[] {
    if (directoryAt(this.#directory.path).length === 0) this.#directory.covers();
    return distinct([...directoryAt(this.#directory.path), ...this.#otherDirectories.flatMap(madeAt)]);
  }

  /** What is to be hidden or not to be reached at all. Where a link leads to one it is what the link leads to. */
  secrets(): OwnFile[] {
    return distinct(this.#secretPaths.flatMap((path) => existing(realTree, path)));
  }
}

/** Where we cannot make it nobody inside can, who has no more rights. */
function madeAt(path: BytePath): OwnFile[] {
  const found = directoryAt(path);
  if (found.length > 0 || machineCalls.makeDirectory(AT_FDCWD, path, PRIVATE_MODE) < 0) return found;
  return directoryAt(path);
}

/** What a link in its place leads to is not ours: in a directory of everybody, anybody can put one there. */
function directoryAt(path: BytePath): OwnFile[] {
  const real = join(resolve(realTree, parent(path)).path, nameOf(path));
  return realTree.kindOf(real) === "directory" ? [{ path: real, found: "directory" }] : [];
}

function distinct(files: readonly OwnFile[]): OwnFile[] {
  return [...new Map(files.map((file) => [file.path, file])).values()];
}
