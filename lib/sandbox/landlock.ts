/**
 * The back end that needs no namespaces: Landlock. Its grants only add up, so it cannot take back anything below what
 * is granted; and it knows nothing of modes, owners and times, which a filter keeps as they are, everywhere.
 */

import { isAtOrBelow } from "./byte_path.ts";
import { MIN_LANDLOCK_VERSION } from "./landlock_version.ts";
import type { LandlockRule, LaunchPlan, ProgramPlan } from "./launcher/launch_plan.ts";
import type { AccessPlan, AccessRule } from "./policy.ts";

const STRENGTH: Readonly<Record<AccessRule["access"], number>> = { deny: 0, read: 1, write: 2 };

/** What every view has, whatever may be read: the same devices and the processes. */
const ALWAYS: readonly LandlockRule[] = [
  ...["null", "zero", "full", "random", "urandom", "tty"]
    .map((name): LandlockRule => ({ path: `/dev/${name}`, access: "device" })),
  { path: "/proc", access: "read" },
];

/**
 * Why Landlock cannot hold a plan; undefined if it can.
 *
 * @param version What the kernel's Landlock can do, or a negated error number.
 */
export function landlockObstacle(plan: AccessPlan, version: number): string | undefined {
  if (plan.refusal !== undefined) return plan.refusal;
  if (version < 0) return "this kernel has no Landlock, or it is switched off";
  if (version < MIN_LANDLOCK_VERSION) {
    return `this kernel's Landlock has version ${version}; version ${MIN_LANDLOCK_VERSION} (Linux 6.12) is needed`;
  }
  if (plan.network === "enabled" && !plan.fullRead) {
    return "Landlock cannot keep programs with a network from the unix sockets that they may not see";
  }
  for (const rule of plan.rules) {
    const above = strongestAbove(plan, rule);
    if (STRENGTH[rule.access] >= STRENGTH[above]) continue;
    return `Landlock cannot ${rule.access === "deny" ? "deny" : "protect"} what lies below a granted directory`;
  }
  return undefined;
}

/** The most that any rule above grants, which with Landlock counts for everything below it. */
function strongestAbove({ fullRead, fullWrite, rules }: AccessPlan, { path }: AccessRule): AccessRule["access"] {
  let strongest: AccessRule["access"] = fullWrite ? "write" : fullRead ? "read" : "deny";
  for (const rule of rules) {
    if (rule.path === path || !isAtOrBelow(path, rule.path)) continue;
    if (STRENGTH[rule.access] > STRENGTH[strongest]) strongest = rule.access;
  }
  return strongest;
}

/**
 * @param plan One without {@linkcode landlockObstacle}.
 * @param filters Seccomp filters, as bytes; that of `metadata_filter.ts` has to be among them.
 */
export function landlockPlan(plan: AccessPlan, filters: readonly string[], program: ProgramPlan): LaunchPlan {
  const granted = plan.rules.flatMap((rule): LandlockRule[] => {
    if (rule.access === "deny" || rule.found === "missing" || isHidden(plan, rule)) return [];
    return [{ path: rule.path, access: rule.access }];
  });
  const root: LandlockRule[] = plan.fullWrite
    ? [{ path: "/", access: "write" }]
    : plan.fullRead
    ? [{ path: "/", access: "read" }]
    : [];
  return {
    confinement: { kind: "landlock", rules: [...root, ...granted, ...ALWAYS], network: plan.network === "enabled" },
    filters,
    program,
  };
}

/** What may be read below what is denied stays out of sight. */
function isHidden(plan: AccessPlan, rule: AccessRule): boolean {
  if (rule.access !== "read") return false;
  const above = plan.rules.filter(({ path }) => path !== rule.path && isAtOrBelow(rule.path, path));
  const nearest = above.reduce<AccessRule | undefined>(
    (one, other) => one === undefined || other.path.length > one.path.length ? other : one,
    undefined,
  );
  return nearest?.access === "deny";
}
