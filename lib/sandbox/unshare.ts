/**
 * The back end that makes its own mounts: util-linux' `unshare` makes the namespaces, which this program cannot (it has
 * many threads), and the launcher inside makes the view. Needs util-linux 2.35 or newer and Linux 5.12 or newer.
 */

import type { LaunchPlan, ProgramPlan } from "./launcher/launch_plan.ts";
import type { LauncherCommand } from "./launcher_command.ts";
import type { Mount } from "./mount_plan.ts";
import type { NetworkAccess } from "./policy.ts";

/** Where `unshare` may lie: places that only the administrator writes to. */
export const UNSHARE_PLACES = ["/usr/bin/unshare", "/bin/unshare", "/run/current-system/sw/bin/unshare"];

/**
 * Process 1 of the sandbox: starts the rest and waits for it, buries what is orphaned, and says nothing of how it ended.
 * The program must not be process 1 itself, for which every signal is ignored that it does not handle. This one has
 * the rights to make mounts, and nobody inside has the rights to touch it. Descriptors 8 and 9 are for its own use; to 4
 * it says first which process it is outside, whose /proc is still there.
 *
 * `unshare` is deaf to SIGINT and SIGTERM, and the program, in a session of its own, is not in the group that they are
 * sent to. So it is this one that ends with them, at once, with the exit code that the reference and bubblewrap have
 * then: 1 on a terminal.
 */
const FIRST_PROCESS = 'stop() { if [ -t 0 ]; then exit 1; else exit "$1"; fi; }; ' +
  'trap "stop 130" INT; trap "stop 143" TERM; exec 8<&0 9>&2 2>/dev/null; ' +
  'if read -r pid rest </proc/self/stat; then echo "$pid" >&4; fi; exec 4>&-; ' +
  '(exec "$@" <&8 2>&9 8<&- 9>&-) & wait $!; exit $?';
const SHELL = "/bin/sh";

/** The whole command line; to be started in `/`, with the launcher's environment, and the plan as its descriptor. */
export function unshareArguments(unshare: string, launcher: LauncherCommand, network: NetworkAccess): string[] {
  return [
    unshare,
    "--user",
    "--map-current-user",
    "--keep-caps",
    "--mount",
    // What is mounted on the machine later is to be seen in the views that are made later, and not to be kept there.
    "--propagation",
    "slave",
    "--pid",
    "--ipc",
    ...(network === "restricted" ? ["--net"] : []),
    "--fork",
    "--kill-child",
    "--",
    SHELL,
    "-c",
    FIRST_PROCESS,
    SHELL,
    ...launcher.argv,
  ];
}

/** @param filters Seccomp filters, as bytes. */
export function unsharePlan(mounts: readonly Mount[], filters: readonly string[], program: ProgramPlan): LaunchPlan {
  return { confinement: { kind: "mounts", mounts }, filters, program };
}
