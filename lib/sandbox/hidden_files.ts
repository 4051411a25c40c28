import { existing, type OwnFile } from "./own_files.ts";
import type { BytePath } from "./policy.ts";
import { realTree } from "./real_tree.ts";
import type { ServerDirectory } from "./server_directory.ts";

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
    if (existing(realTree, this.#directory.path).length === 0) this.#directory.covers();
    return [this.#directory.path, ...this.#otherDirectories].flatMap((path) => existing(realTree, path));
  }

  /** What is to be hidden or not to be reached at all. Where a link leads to one it is what the link leads to. */
  secrets(): OwnFile[] {
    return distinct(this.#secretPaths.flatMap((path) => existing(realTree, path)));
  }
}

function distinct(files: readonly OwnFile[]): OwnFile[] {
  return [...new Map(files.map((file) => [file.path, file])).values()];
}
