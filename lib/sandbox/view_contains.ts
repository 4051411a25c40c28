import { isAtOrBelow } from "./byte_path.ts";
import type { Mount } from "./mount_plan.ts";
import type { BytePath } from "./policy.ts";

/**
 * Whether a directory can be entered in the view that these mounts make. In doubt (below /dev and /proc) it cannot.
 *
 * @param directory A real path of a directory that exists on the machine.
 */
export function viewContains(mounts: readonly Mount[], directory: BytePath): boolean {
  const top = mounts.findLast((mount) => mount.kind !== "freeze" && isAtOrBelow(directory, mount.path));
  switch (top?.kind) {
    case "bind":
    case "readOnlyBind":
    case "deviceBind":
      return true;
    case "emptyRoot":
      return directory === "/" || isOnTheWay(mounts, directory);
    case "emptyDirectory":
      return (top.mode & 0o111) !== 0 && (directory === top.path || isOnTheWay(mounts, directory));
    case "devices":
    case "processes":
      return directory === top.path;
    default:
      return false;
  }
}

/** Whether it had to be made so that something can be mounted below it. */
function isOnTheWay(mounts: readonly Mount[], directory: BytePath): boolean {
  return mounts.some((mount) => mount.kind !== "freeze" && isAtOrBelow(mount.path, directory));
}
