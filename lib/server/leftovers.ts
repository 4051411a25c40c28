import { OPERATING_SYSTEM } from "../operating_system.ts";
import type { Log } from "../log.ts";
import { isRecordInUse, recordPath } from "../sandbox/mount_point_record_path.ts";

/**
 * Removes what servers of this user have left for their sandboxes when they were killed: empty directories and files that
 * held the place of protected names. Where nothing was left this is one look into a directory. A server that enforces a
 * sandbox does it as well; who starts one, need not wait for that.
 *
 * @param log Hears what went wrong; nothing is thrown.
 */
export async function removeLeftovers(log: Log): Promise<void> {
  if (OPERATING_SYSTEM !== "linux") return;
  try {
    const uid = Deno.uid() ?? 0;
    const directory = recordPath(Deno.env.get("XDG_RUNTIME_DIR"), uid);
    if (!isRecordInUse(directory)) return;
    const { MountPoints } = await import("../sandbox/mount_points.ts");
    await using points = new MountPoints({ directory, log, uid });
    await points.cleanUp();
  } catch (error) {
    log.warn("what a killed server has left cannot be removed", {
      reason: error instanceof Error ? error.message : String(error),
    });
  }
}
