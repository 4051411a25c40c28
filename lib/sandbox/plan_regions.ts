/** Where in the file system a plan gives one answer: trees, each without some of what lies below. */

import { isAtOrBelow } from "./byte_path.ts";
import type { Access, AccessRule } from "./policy.ts";

export interface Region {
  /** The answer begins here, and holds for everything below … */
  readonly root: AccessRule;
  /** … but for these, with everything below them. What lies deeper and gets it again is a region of its own. */
  readonly without: readonly AccessRule[];
}

interface Enclosing {
  readonly rule: AccessRule;
  /** The region that the rule begins or goes on with; undefined where the answer is no. */
  readonly region: { readonly root: AccessRule; readonly without: AccessRule[] } | undefined;
}

/**
 * @param rules Of a plan, in any order, each path once.
 * @param holds Whether an access is what is asked for. Where no rule is, it is not.
 */
export function regionsOf(rules: readonly AccessRule[], holds: (access: Access) => boolean): Region[] {
  const regions: Region[] = [];
  // From the outermost to the innermost.
  const enclosing: Enclosing[] = [];
  for (const rule of rules.toSorted((one, other) => treeOrder(one.path) < treeOrder(other.path) ? -1 : 1)) {
    while (enclosing.length > 0 && !isAtOrBelow(rule.path, enclosing.at(-1)!.rule.path)) enclosing.pop();
    let region = enclosing.at(-1)?.region;
    if (holds(rule.access)) {
      if (region === undefined) regions.push(region = { root: rule, without: [] });
    } else if (region !== undefined) {
      region.without.push(rule);
      region = undefined;
    }
    enclosing.push({ rule, region });
  }
  return regions;
}

/** What lies below something comes directly after it: a NUL, which no path has, sorts before all other bytes. */
function treeOrder(path: string): string {
  return path.replaceAll("/", "\0");
}
