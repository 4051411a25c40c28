import type { LauncherCommand } from "./launcher_command.ts";
import type { Premises } from "./mechanism.ts";
import { mountPlan } from "./mount_plan.ts";
import { neededMountPoints } from "./needed_mount_points.ts";
import type { AccessPlan } from "./policy.ts";
import type { FileConfinement } from "./sandbox.ts";

/**
 * How a helper works on files in a view that it makes itself.
 *
 * @param args The command line that gives it namespaces of its own.
 */
export function fileView(
  { mountPoints, hidden }: Premises,
  plan: AccessPlan,
  args: (command: LauncherCommand) => readonly string[],
): FileConfinement {
  return {
    arguments: args,
    // Programs need none: it is made when it is asked for.
    get confinement() {
      return { kind: "mounts" as const, mounts: mountPlan(plan, { scratch: "readOnly", hidden: hidden.now() }) };
    },
    hold: (signal) => mountPoints.hold(neededMountPoints(plan), signal),
  };
}
