/** What the entries of a policy name, in so many words: paths as somebody spelled them, and patterns. */

import { join } from "./byte_path.ts";
import type { Access, BytePath, PolicyEntry, RestrictedFileSystem } from "./policy.ts";

export interface SpelledEntry {
  readonly path: BytePath;
  readonly access: Access;
}

export interface SpelledEntries {
  readonly paths: readonly SpelledEntry[];
  /** Absolute patterns of what is denied; null: a relative one, and nothing to take it from. */
  readonly deniedPatterns: readonly (string | null)[];
}

/** @param runtime What `minimal` stands for, see `runtime_trees.ts`. */
export function spelledEntries(fileSystem: RestrictedFileSystem, runtime: readonly SpelledEntry[]): SpelledEntries {
  const paths: SpelledEntry[] = [];
  const deniedPatterns: (string | null)[] = [];
  for (const { path, access } of fileSystem.entries) {
    if (path.kind !== "glob") paths.push(...spelled(path, access, fileSystem, runtime));
    else if (access === "deny") deniedPatterns.push(absolute(path.pattern, fileSystem.cwd));
  }
  return { paths, deniedPatterns };
}

type Direct = Exclude<PolicyEntry["path"], { kind: "glob" }>;

function spelled(
  path: Direct,
  access: Access,
  { entries, workspaceRoots, tmpdir }: RestrictedFileSystem,
  runtime: readonly SpelledEntry[],
): readonly SpelledEntry[] {
  switch (path.kind) {
    case "path":
      return [{ path: path.path, access }];
    case "root":
      return [{ path: "/", access }];
    case "slashTmp":
      return [{ path: "/tmp", access }];
    case "tmpdir":
      return tmpdir === null ? [] : [{ path: tmpdir, access }];
    case "minimal":
      // Only ever a grant for reading, and nothing beside a grant for all.
      return access === "deny" || entries.some(grantsRoot) ? [] : runtime;
    case "projectRoots":
      return workspaceRoots.flatMap((root) => belowRoot(root, path.subpath, access));
    case "unknown":
      return [];
  }
}

function grantsRoot({ path, access }: PolicyEntry): boolean {
  return path.kind === "root" && access !== "deny";
}

/**
 * One workspace root, or what lies in it. A subpath that is absolute or has dots in it grants nothing; where it was to
 * take something away, the whole root is denied, since nobody knows what was meant.
 */
function belowRoot(root: BytePath, subpath: string | null, access: Access): SpelledEntry[] {
  if (subpath === null) return [{ path: root, access }];
  const names = subpath.split("/").filter((name) => name !== "");
  if (!subpath.startsWith("/") && !names.includes(".") && !names.includes("..")) {
    return [{ path: names.reduce(join, root), access }];
  }
  return access === "write" ? [] : [{ path: root, access: "deny" }];
}

function absolute(pattern: string, cwd: BytePath | null): string | null {
  if (pattern.startsWith("/")) return pattern;
  // The directory is no pattern: what would be one in its name is escaped.
  return cwd === null ? null : `${cwd.replace(/[*?[\]{}\\]/g, "\\$&")}/${pattern}`;
}
