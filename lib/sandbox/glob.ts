/** The files that a pattern stands for now. */

import { join, toText } from "./byte_path.ts";
import { resolve } from "./canonical_path.ts";
import type { FileTree } from "./file_tree.ts";
import {
  DEEP,
  hasWildcard,
  literalName,
  matchesName,
  parsePattern,
  PatternError,
  type Segment,
} from "./glob_pattern.ts";
import type { BytePath, PlanLink } from "./policy.ts";

/** Names looked at between two steps: less than a millisecond. */
const NAMES_PER_STEP = 128;

/** What all patterns of a policy may cost together. */
export class ScanBudget {
  #names: number;
  #files: number;

  /**
   * @param names Most names to look at.
   * @param files Most files to find.
   */
  constructor(names: number, files: number) {
    this.#names = names;
    this.#files = files;
  }

  /** @throws {PatternError} */
  lookAtOne(): void {
    if (--this.#names < 0) throw new PatternError("there are too many files below its directory");
  }

  /** @throws {PatternError} */
  findOne(): void {
    if (--this.#files < 0) throw new PatternError("too many files match");
  }
}

export interface Match {
  /** As the pattern spells it. */
  readonly spelled: BytePath;
  /** Canonical. */
  readonly path: BytePath;
  /** The links on the way to the directory in which the search began. */
  readonly links: readonly PlanLink[];
}

/**
 * Finds files: no directories, and no link is followed below the directory before the first wildcard. A link that matches
 * and leads to a file stands for that file.
 *
 * @param pattern Absolute, in bytes.
 * @param maxDepth How many directories deep to look; 1: only into the directory before the first wildcard.
 * @throws {PatternError} If it cannot be expanded: it has no wildcard or no directory before it, is malformed or too much.
 * @throws {TreeError} If a directory cannot be listed.
 */
export function* findFiles(
  tree: FileTree,
  pattern: string,
  maxDepth: number,
  budget: ScanBudget,
): Generator<void, Match[], void> {
  if (!hasWildcard(pattern)) throw new PatternError("a pattern needs a wildcard");
  const matches: Match[] = [];
  for (const segments of parsePattern(pattern)) {
    const wildcard = segments.findIndex((segment) => literalName(segment) === undefined);
    // Only braces: the last name is looked for, not assumed.
    const depth = wildcard < 0 ? segments.length - 1 : wildcard;
    if (depth <= 0) throw new PatternError("use a pattern with a non-root directory prefix");
    const prefix = `/${segments.slice(0, depth).map(literalName).join("/")}`;
    yield* search(tree, prefix, segments.slice(depth), maxDepth, budget, matches);
  }
  return matches;
}

interface Pending {
  readonly path: BytePath;
  readonly spelled: BytePath;
  readonly depth: number;
  /** The segments that a name in it may be. */
  readonly positions: readonly number[];
}

function* search(
  tree: FileTree,
  prefix: BytePath,
  segments: readonly Segment[],
  maxDepth: number,
  budget: ScanBudget,
  matches: Match[],
): Generator<void, void, void> {
  const start = resolve(tree, prefix);
  if (start.found === "unknown") throw new PatternError(`${toText(start.reached)} cannot be looked at`);
  if (start.found !== "directory") return;
  let looked = 0;
  const pending: Pending[] = [{ path: start.path, spelled: prefix, depth: 1, positions: closure(segments, [0]) }];
  for (let directory = pending.pop(); directory !== undefined; directory = pending.pop()) {
    for (const { name, kind } of tree.list(directory.path)) {
      budget.lookAtOne();
      if (++looked % NAMES_PER_STEP === 0) yield;
      const { next, matched } = advance(segments, directory.positions, name);
      const path = join(directory.path, name);
      const spelled = join(directory.spelled, name);
      if (matched && kind !== "directory") {
        const file = kind === "file" ? path : linkedFile(tree, path);
        if (file !== undefined) {
          budget.findOne();
          matches.push({ spelled, path: file, links: start.links });
        }
      }
      if (kind === "directory" && next.length > 0 && directory.depth < maxDepth) {
        pending.push({ path, spelled, depth: directory.depth + 1, positions: next });
      }
    }
  }
}

function linkedFile(tree: FileTree, link: BytePath): BytePath | undefined {
  const { found, path } = resolve(tree, link);
  return found === "file" ? path : undefined;
}

/** Where one name leads: the segments that may come below it, and whether the pattern may end with it. */
function advance(
  segments: readonly Segment[],
  positions: readonly number[],
  name: string,
): { next: number[]; matched: boolean } {
  const next: number[] = [];
  let matched = false;
  for (const position of positions) {
    const segment = segments[position]!;
    const isLast = position === segments.length - 1;
    if (segment === DEEP) {
      matched ||= isLast;
      next.push(position);
    } else if (matchesName(segment, name)) {
      matched ||= isLast;
      if (!isLast) next.push(position + 1);
    }
  }
  return { next: closure(segments, next), matched };
}

/** `**` may stand for no directory at all, unless it is the end. */
function closure(segments: readonly Segment[], positions: readonly number[]): number[] {
  const all = new Set<number>();
  for (let position of positions) {
    all.add(position);
    while (segments[position] === DEEP && position < segments.length - 1) all.add(++position);
  }
  return [...all];
}

/** What is said of a pattern that cannot be expanded. */
export function patternRefusal(pattern: string, error: PatternError): string {
  return `unreadable glob \`${toText(pattern)}\` cannot be safely expanded; ${error.message}`;
}
