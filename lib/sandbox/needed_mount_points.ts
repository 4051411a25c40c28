import { parent } from "./byte_path.ts";
import type { MountPoint } from "./placeholder.ts";
import type { AccessPlan, AccessRule, BytePath } from "./policy.ts";
import { PROTECTED_NAMES } from "./protected_names.ts";

/**
 * What has to be there while a plan is in force: every path that is more restricted than the writable directory around it.
 * Those that are there already belong to it because they may be placeholders, which others would remove.
 */
export function neededMountPoints(plan: AccessPlan): MountPoint[] {
  if (plan.fullWrite) return [];
  const rules = new Map(plan.rules.map((rule) => [rule.path, rule]));
  return plan.rules.filter(({ path, access }) => access !== "write" && ruleAround(rules, path)?.access === "write").map(
    (rule) => ({ path: rule.path, kind: isDirectory(rule) ? "directory" : "file" }),
  );
}

/** What is missing looks like an empty file inside, and the protected names like empty directories. */
function isDirectory({ path, found, isProtection }: AccessRule): boolean {
  if (found !== "missing") return found === "directory";
  return isProtection || PROTECTED_NAMES.some((name) => path.endsWith(`/${name}`));
}

/** The rule that decides for the directory that a path lies in. Going up is quicker than to look through thousands of rules. */
function ruleAround(rules: ReadonlyMap<BytePath, AccessRule>, path: BytePath): AccessRule | undefined {
  for (let at = path; at !== "/";) {
    at = parent(at);
    const rule = rules.get(at);
    if (rule !== undefined) return rule;
  }
  return undefined;
}
