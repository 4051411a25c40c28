/** Changes of what is not content: modes, owners, times and attributes outside. */
import type { Attempt } from "../attempt.ts";

export const METADATA: readonly Attempt[] = [
  {
    name: "change the mode of a file outside",
    topic: "metadata outside",
    against: "files",
    script: `
      try("chmod", chmod(0600, "$out/victim")); try("chmod", chmod(0777, "$out")); try("chmod", chmod(0600, "link"));
      if (sysopen(my $file, "$out/victim", O_RDONLY)) {
        try("fchmod", chmod(0640, $file)); try("chmod", chmod(0640, "/proc/self/fd/" . fileno $file));
      }
      if (sysopen(my $path, "$out/victim", 010000000)) { call("fchmodat2", fileno $path, "", 0604, 0x1000) }`,
  },
  {
    name: "change the owner of a file outside",
    topic: "metadata outside",
    against: "files",
    needs: ["otherGroup"],
    script: 'try("chown", chown(-1, $P{owner}, "$out/victim")); try("chown", chown(-1, $P{owner}, "link"));',
  },
  {
    name: "change the times of a file outside",
    topic: "metadata outside",
    against: "files",
    script: `
      try("utime", utime(1, 1, "$out/victim")); try("utime", utime(1, 1, "$out"));
      if (sysopen(my $file, "$out/victim", O_RDONLY)) { try("futime", utime(1, 1, $file)) }`,
  },
  {
    name: "set an attribute of a file outside",
    topic: "metadata outside",
    against: "files",
    script: 'call("setxattr", $_, "user.run", $run, length $run, 0) for "$out/victim", "$out", "link", ".git/config";',
  },
];
