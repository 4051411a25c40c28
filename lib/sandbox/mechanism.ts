import type { Log } from "../log.ts";
import type { CoverFiles } from "./cover_files.ts";
import type { MountPoints } from "./mount_points.ts";
import type { OwnFile } from "./own_files.ts";
import type { AccessPlan } from "./policy.ts";
import type { Enforcement } from "./sandbox.ts";
import type { Machine } from "./syscall_numbers.ts";
import type { Tenancies } from "./tenancies.ts";

/** How a back end holds a plan, once it is known to work. */
export interface Mechanism {
  /** @param plan One that the back end can express. */
  enforcement(plan: AccessPlan): Enforcement;
}

/** What all back ends share. */
export interface Premises {
  readonly machine: Machine;
  readonly log: Log;
  readonly mountPoints: MountPoints;
  readonly tenancies: Tenancies;
  /** @throws {ExecError} `sandboxUnavailable` if they cannot be made. */
  covers(): CoverFiles;
  /** What nobody inside may see, as it is there now. */
  hidden(): OwnFile[];
}
