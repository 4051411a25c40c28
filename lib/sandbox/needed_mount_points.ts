import { isAtOrBelow } from "./byte_path.ts";
import type { MountPoint } from "./placeholder.ts";
import type { AccessPlan, AccessRule } from "./policy.ts";
import { PROTECTED_NAMES } from "./protected_names.ts";

/**
 * What has to be there while a plan is in force: every path that is more restricted than the writable directory around it.
 * Those that are there already belong to it because they may be placeholders, which others would remove.
 */
export function neededMountPoints(plan: AccessPlan): MountPoint[] {
  if (plan.fullWrite) return [];
  return plan.rules.filter((rule) => rule.access !== "write" && ruleAround(plan, rule)?.access === "write").map(
    (rule) => ({ path: rule.path, kind: isDirectory(rule) ? "directory" : "file" }),
  );
}

/** What is missing looks like an empty file inside, and the protected names like empty directories. */
function isDirectory({ path, found, isProtection }: AccessRule): boolean {
  if (found !== "missing") return found === "directory";
  return isProtection || PROTECTED_NAMES.some((name) => path.endsWith(`/${name}`));
}

/** The rule that decides for the directory that a rule's path lies in. */
function ruleAround({ rules }: AccessPlan, { path }: AccessRule): AccessRule | undefined {
  return rules.reduce<AccessRule | undefined>((best, rule) => {
    if (rule.path === path || !isAtOrBelow(path, rule.path)) return best;
    return best === undefined || rule.path.length > best.path.length ? rule : best;
  }, undefined);
}
