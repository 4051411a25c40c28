import type { BackEnd } from "./back_end.ts";
import type { CoverFiles } from "./cover_files.ts";
import type { HiddenFiles } from "./hidden_files.ts";
import type { MountPoints } from "./mount_points.ts";
import type { AccessPlan } from "./policy.ts";
import type { ReadyLaunchers } from "./ready_launchers.ts";
import type { Enforcement } from "./sandbox.ts";
import type { Machine } from "./syscall_numbers.ts";
import type { Tenancies } from "./tenancies.ts";

/** What a back end is made of. */
export interface Mechanism {
  readonly name: BackEnd<unknown>["name"];
  /** Why it cannot hold a plan; undefined: it can, as far as is known before the test. */
  obstacle(plan: AccessPlan): string | undefined;
  /** Looks for what it needs and really tries; why it does not work. */
  test(): Promise<string | undefined>;
  /** @param plan One without obstacle; the test has found that the back end works. */
  enforcement(plan: AccessPlan): Enforcement;
}

/** What all back ends share. */
export interface Premises {
  readonly machine: Machine;
  readonly mountPoints: MountPoints;
  readonly tenancies: Tenancies;
  readonly launchers: ReadyLaunchers;
  /** @throws {ExecError} `sandboxUnavailable` if they cannot be made. */
  covers(): CoverFiles;
  readonly hidden: HiddenFiles;
}
