import * as calls from "../../linux/sandbox_calls.ts";
import type { Confinement } from "../../sandbox/launcher/launch_plan.ts";

/**
 * Says what a helper can be used for again: everything that is equal in this.
 *
 * @param argv How it is started.
 */
export function helperKey(argv: readonly string[], confinement: Confinement): string {
  // Views of mounts are made anew for each request; what Landlock has been told once stays.
  if (confinement.kind !== "landlock") return JSON.stringify(argv);
  return JSON.stringify([argv, confinement, confinement.rules.map(({ path }) => identityOf(path))]);
}

/** Rules are about what lay at a path when they were made. */
function identityOf(path: string): string | number {
  const fd = calls.openWithoutLinks(calls.AT_FDCWD, calls.cBytes(path), calls.O_PATH);
  if (fd < 0) return fd;
  try {
    return calls.identity(fd);
  } finally {
    calls.close(fd);
  }
}
