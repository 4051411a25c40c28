/** The file system as far as policies look at it; tests have one in memory. */

import type { BytePath } from "./policy.ts";

/**
 * What a path is, the last name not followed. Everything that is neither a directory nor a link is a file. `unknown`: it
 * may or may not be there, because this process is not let near it.
 */
export type NodeKind = "directory" | "file" | "link" | "missing" | "unknown";

export interface TreeEntry {
  readonly name: string;
  readonly kind: "directory" | "file" | "link";
}

/** Paths are absolute; only their last names may be links. */
export interface FileTree {
  kindOf(path: BytePath): NodeKind;
  /**
   * How a directory or file is really spelled, where a name may be written in more than one way. Absent: it is the path.
   *
   * @returns The path itself if it cannot be told.
   */
  spelling?(path: BytePath): BytePath;
  /**
   * What a link says.
   *
   * @throws {TreeError} Also when it is no link any more.
   */
  readLink(path: BytePath): string;
  /**
   * The names in a directory, without `.` and `..`, in any order; empty when it is none any more.
   *
   * @throws {TreeError} When it cannot be listed to its end.
   */
  list(path: BytePath): Iterable<TreeEntry>;
  /**
   * The beginning of a file; empty when it is none any more.
   *
   * @throws {TreeError} When it cannot be read.
   */
  readStart(path: BytePath, maxBytes: number): string;
}

/** As much of it as finding a path takes. */
export type PathTree = Omit<FileTree, "list" | "readStart">;

/** The file system did not tell what a policy depends on. */
export class TreeError extends Error {
  override readonly name = "TreeError";
}
