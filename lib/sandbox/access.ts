/** What a plan says of a path. */

import { isAtOrBelow } from "./byte_path.ts";
import type { AccessPlan, AccessRule, BytePath } from "./policy.ts";

/** @param path Canonical: what no link leads to, see `resolve`. Nothing may be read of a plan that cannot be held. */
export function mayRead(plan: AccessPlan, path: BytePath): boolean {
  if (plan.fullRead) return true;
  const access = plan.refusal === undefined ? decidingRule(plan, path)?.access : undefined;
  return access === "read" || access === "write";
}

/** As {@linkcode mayRead}. */
export function mayWrite(plan: AccessPlan, path: BytePath): boolean {
  if (plan.fullWrite) return true;
  return plan.refusal === undefined && decidingRule(plan, path)?.access === "write";
}

/** The longest rule at or above a path; undefined: nothing is allowed there. */
export function decidingRule(plan: AccessPlan, path: BytePath): AccessRule | undefined {
  // Rules are sorted, so of those that lead to one path the longest is the last.
  return plan.rules.findLast((rule) => isAtOrBelow(path, rule.path));
}
