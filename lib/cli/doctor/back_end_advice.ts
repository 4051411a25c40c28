import type { BackEndReport } from "../../sandbox/back_ends.ts";

const NAMESPACES =
  "this user has to be allowed to make user namespaces and to mount in them. In a container its seccomp " +
  "and AppArmor profiles have to allow it (docker: --security-opt seccomp=unconfined --security-opt " +
  "apparmor=unconfined); on Ubuntu an AppArmor profile of the program, or sysctl " +
  "kernel.apparmor_restrict_unprivileged_userns=0; on old Debian sysctl kernel.unprivileged_userns_clone=1";

/** Patterns of why a back end does not work → what the operator of the machine can do. The first that fits counts. */
const BY_REASON: readonly (readonly [RegExp, string])[] = [
  [/TMPDIR/, "start the server with a TMPDIR that it may write to"],
  [
    /record of mount points/,
    "set XDG_RUNTIME_DIR to a directory of mode 0700 that this user owns; what is in the way otherwise is named here",
  ],
  [
    /mount proc/,
    "parts of this container's /proc are covered, so that no other one can be mounted: start it with an uncovered one " +
    "(docker: --security-opt systempaths=unconfined; podman: --security-opt unmask=ALL; Kubernetes: procMount: Unmasked)",
  ],
  [
    /ENOSPC|No space left|nesting depth/,
    "as many namespaces as this user may have are there: raise sysctl user.max_user_namespaces (0 forbids them)",
  ],
  [/Function not implemented/, "the kernel is too old: 5.12 or newer is needed, and 6.12 for Landlock"],
  [/Operation not permitted|Permission denied|No permissions/, NAMESPACES],
  [/others may write to it/, "take the right to write to it from everybody but its owner (chmod go-w)"],
  [/working directory/, "start the server in another directory, or install bubblewrap where the system's programs are"],
];

const BY_NAME: Readonly<Partial<Record<BackEndReport["name"], string>>> = {
  bubblewrap: "install a bubblewrap that has --bind-fd, 0.10 or a distribution's own (apt install bubblewrap)",
  unshare: "install util-linux",
  landlock: "the kernel needs Landlock in its list of security modules (lsm=…), of Linux 6.12 or newer",
};

/** What to do about a back end that does not work; undefined: nobody knows. */
export function backEndAdvice({ name, reason = "" }: Pick<BackEndReport, "name" | "reason">): string | undefined {
  return BY_REASON.find(([pattern]) => pattern.test(reason))?.[1] ?? BY_NAME[name];
}
