/** What stays as it is in a writable directory unless somebody asks for it by name. */

import { join } from "./byte_path.ts";
import type { FileTree } from "./file_tree.ts";
import type { BytePath } from "./policy.ts";

/** Programs outside of the sandbox act upon what lies in these: hooks, settings, instructions, credentials. */
export const PROTECTED_NAMES = [".git", ".codex", ".agents", ".aws"] as const;

/** Longest `.git` file that is looked at in bytes: a path of the system's longest, and its label. */
const MAX_GIT_FILE_BYTES = 4096 + 64;

/**
 * Where the `.git` file of a directory says that the repository is, as it is written there; undefined if it says nothing.
 *
 * @param root The directory that `.git` is a file in.
 * @throws {TreeError} If the file cannot be read.
 */
export function gitDirectory(tree: FileTree, root: BytePath): BytePath | undefined {
  const text = tree.readStart(join(root, ".git"), MAX_GIT_FILE_BYTES);
  const target = /^\s*gitdir:[ \t]*([^\r\n]*?)\s*(?:[\r\n]|$)/.exec(text)?.[1];
  if (target === undefined || target === "") return undefined;
  return target.startsWith("/") ? target : join(root, target);
}
