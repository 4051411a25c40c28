import { existing, type OwnFile } from "./own_files.ts";
import type { BytePath } from "./policy.ts";
import { realTree } from "./real_tree.ts";
import type { ServerDirectory } from "./server_directory.ts";

/** What nobody in a sandbox may see, whatever its policy says. */
export class HiddenFiles {
  readonly #directory: ServerDirectory;
  readonly #secretPaths: readonly BytePath[];

  /** @param secretPaths Absolute. */
  constructor(directory: ServerDirectory, secretPaths: readonly BytePath[]) {
    this.#directory = directory;
    this.#secretPaths = secretPaths;
  }

  /** All of it, as it is there now, each once. */
  now(): OwnFile[] {
    return distinct([...existing(realTree, this.#directory.path), ...this.secrets()]);
  }

  /** The secrets alone. Where a link leads to one it is what the link leads to. */
  secrets(): OwnFile[] {
    return distinct(this.#secretPaths.flatMap((path) => existing(realTree, path)));
  }
}

function distinct(files: readonly OwnFile[]): OwnFile[] {
  return [...new Map(files.map((file) => [file.path, file])).values()];
}
