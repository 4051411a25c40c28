/** From the path that somebody wrote to the one that no link leads to. */

import { join, parent } from "./byte_path.ts";
import { type NodeKind, type PathTree, TreeError } from "./file_tree.ts";
import type { BytePath, PlanLink } from "./policy.ts";

/** Links on one way, after which the kernel gives up as well (MAXSYMLINKS). */
const MAX_LINKS = 40;

export interface CanonicalPath {
  /** Without links as far as it exists; what is missing is appended as it was written. */
  readonly path: BytePath;
  readonly found: "directory" | "file" | "missing" | "unknown";
  /** What exists: the path itself. Otherwise the first name on the way that is not there, or not to be looked at. */
  readonly reached: BytePath;
  /** The links that the way goes through, in that order, also where it ends at one that leads nowhere. */
  readonly links: readonly PlanLink[];
}

/** Follows all links. A file on the way, with names behind it, makes what follows missing: `reached` is then below that file. */
export function resolve(tree: PathTree, path: BytePath): CanonicalPath {
  const links: PlanLink[] = [];
  // Names still to go, the next one last.
  const ahead = path.split("/").reverse();
  let at: BytePath = "/";
  let found: "directory" | "file" = "directory";
  for (let name = ahead.pop(); name !== undefined; name = ahead.pop()) {
    if (name === "" || name === ".") continue;
    if (found === "directory" && name === "..") {
      at = parent(at);
      continue;
    }
    const next = join(at, name);
    const kind: NodeKind = found === "file" ? "missing" : tree.kindOf(next);
    if (kind === "directory" || kind === "file") {
      at = tree.spelling?.(next) ?? next;
      found = kind;
      continue;
    }
    const target = kind === "link" && links.length < MAX_LINKS ? linkAt(tree, next) : undefined;
    if (target === undefined) {
      return { path: beyond(next, ahead), found: kind === "missing" ? kind : "unknown", reached: next, links };
    }
    links.push({ path: next, target });
    if (target.startsWith("/")) at = "/";
    ahead.push(...target.split("/").reverse());
  }
  return { path: at, found, reached: at, links };
}

function linkAt(tree: PathTree, path: BytePath): string | undefined {
  try {
    return tree.readLink(path);
  } catch (error) {
    if (error instanceof TreeError) return undefined;
    throw error;
  }
}

/** Names behind a missing one, as they are written: only a link can make them dots. */
function beyond(missing: BytePath, ahead: readonly string[]): BytePath {
  return ahead.toReversed().reduce((path, name) => {
    if (name === "" || name === ".") return path;
    return name === ".." ? parent(path) : join(path, name);
  }, missing);
}
