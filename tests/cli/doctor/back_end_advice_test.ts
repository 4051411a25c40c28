import assert from "node:assert/strict";
import { backEndAdvice } from "../../../lib/cli/doctor/back_end_advice.ts";

Deno.test("why a back end does not work leads to what an operator can do about it", () => {
  const cases = [
    ["bubblewrap", "it is not installed", /apt install bubblewrap/],
    ["bubblewrap", "version 0.4.0 is too old, 0.5.0 or newer is needed", /install a bubblewrap that has --bind-fd/],
    [
      "bubblewrap",
      "version 0.9.0 binds no descriptors (--bind-fd), so links …",
      /install a bubblewrap that has --bind-fd/,
    ],
    ["unshare", "it is not installed", /util-linux/],
    ["landlock", "landlock_create_ruleset version: Operation not supported (os error 95)", /security modules/],
    // A container with the usual seccomp profile.
    ["bubblewrap", "bwrap: Creating new namespace failed: Operation not permitted", /seccomp=unconfined/],
    ["unshare", "unshare: unshare failed: Operation not permitted", /seccomp=unconfined/],
    // One that covers parts of /proc.
    ["bubblewrap", "bwrap: Can't mount proc on /newroot/proc: Operation not permitted", /systempaths=unconfined/],
    ["unshare", "sandbox: fsmount proc: Operation not permitted (os error 1)", /systempaths=unconfined/],
    // Ubuntu.
    ["bubblewrap", "bwrap: setting up uid map: Permission denied", /apparmor_restrict_unprivileged_userns/],
    ["bubblewrap", "bwrap: loopback: Failed RTM_NEWADDR: Operation not permitted", /apparmor_restrict_unprivileged/],
    ["unshare", "unshare: write failed /proc/self/uid_map: Operation not permitted", /apparmor_restrict_unprivileged/],
    // Old Debian.
    ["bubblewrap", "bwrap: No permissions to create new namespace, likely because …", /unprivileged_userns_clone/],
    ["bubblewrap", "bwrap: Creating new namespace failed: nesting depth or … exceeded (ENOSPC)", /max_user_namespaces/],
    ["unshare", "unshare: unshare failed: No space left on device", /max_user_namespaces/],
    ["unshare", "the files of the trial cannot be made where temporary files go (TMPDIR): Read-only …", /a TMPDIR/],
    ["unshare", "the record of mount points cannot be kept in /tmp/exec-server-0: another user …", /XDG_RUNTIME_DIR/],
    // An old kernel.
    ["unshare", "sandbox: mount_setattr / private: Function not implemented (os error 38)", /5\.12/],
    ["bubblewrap", "others may write to it", /chmod/],
    ["bubblewrap", "it lies below the server's working directory", /another directory/],
  ] as const;
  for (const [name, reason, advice] of cases) assert.match(backEndAdvice({ name, reason }) ?? "none", advice, reason);
  assert.equal(backEndAdvice({ name: "filter", reason: "it lets a program open an internet socket" }), undefined);
});
