/**
 * Ways to another view of files: mounts, namespaces, other roots, programs with more rights. Every mount is on a
 * directory of the suite, so that without any enforcement nothing else is touched.
 */
import type { Attempt } from "../attempt.ts";

/** Once more the plain way: after a change of the view. */
const WRITE_ALL = 'spit($_) for "$out/victim", "$ws/.git/config", "$ws/sealed/file"; show("$ws/denied/secret");';

/** Perl: a user namespace of our own with all rights in it, and a mount namespace. */
const NEW_NAMESPACES = `
  my ($uid, $gid) = ($>, $) + 0);
  call("unshare", 0x10020000);
  for ([setgroups => "deny"], [uid_map => "0 $uid 1"], [gid_map => "0 $gid 1"]) {
    my $file; sysopen($file, "/proc/self/$$_[0]", O_WRONLY) && syswrite($file, $$_[1]) or note("$$_[0]: $!");
  }`;

const REMOUNT = `
  for my $path ($out, "$ws/.git", "$ws/sealed", "$ws/mine/.git") {
    call("mount", "none", $path, 0, 0x1000 | 0x20, 0);
    call("mount", $path, $path, 0, 0x1000, 0); call("mount", "none", $path, 0, 0x1000 | 0x20, 0);
  }`;
const UNMOUNT = `
  for my $path ("$ws/.git", "$ws/sealed", "$ws/denied", "$ws/repo/.git", "$ws/mine/.git", $ws) {
    call("umount2", $path, 0); call("umount2", $path, 2);
  }
  mkdir("$ws/repo/.git"); spit("$ws/repo/.git/config");`;

export const MOUNTS: readonly Attempt[] = [
  { name: "mount read-write again", topic: "remount", against: "files", script: REMOUNT + WRITE_ALL },
  {
    name: "take the read-only flag off a mount",
    topic: "remount",
    against: "files",
    script: `
      for my $path ($out, "$ws/.git", "$ws/sealed") {
        call("mount_setattr", $HERE, $path, $_, pack("Q4", 0, 1, 0, 0), 32) for 0, 0x8000;
      }${WRITE_ALL}`,
  },
  { name: "unmount what protects", topic: "unmount", against: "files", script: UNMOUNT + WRITE_ALL },
  {
    name: "mount a directory from outside into the workspace",
    topic: "mounts",
    against: "files",
    script: `
      call("mount", $out, "$ws/mount", 0, 0x1000, 0); spit("$ws/mount/victim");
      my $tree = call("open_tree", $HERE, $out, 1);
      if (defined $tree) {
        call("mount_setattr", $tree, "", 0x1000, pack("Q4", 0, 1, 0, 0), 32);
        call("move_mount", $tree, "", $HERE, "$ws/mount", 4); spit("$ws/mount/victim"); spit("/proc/self/fd/$tree/victim");
      }
      call("mount", "$ws/.git", "$ws/mount", 0, 0x1000, 0); spit("$ws/mount/config");`,
    needs: ["root"],
  },
  {
    name: "mount read-write again in new namespaces",
    topic: "new namespaces",
    against: "files",
    script: NEW_NAMESPACES + REMOUNT + WRITE_ALL,
  },
  {
    name: "unmount what protects in new namespaces",
    topic: "new namespaces",
    against: "files",
    script: NEW_NAMESPACES + UNMOUNT + WRITE_ALL,
  },
  {
    name: "see other processes by a new /proc",
    topic: "new namespaces",
    against: "processes",
    bystander: "plain",
    script: `
      sub look { show("$_[0]/$P{bystander}/environ"); show("$_[0]/$P{bystander}/cmdline") }
      look("/proc"); ${NEW_NAMESPACES}
      call("mount", "proc", "$ws/mount", "proc", 0, 0); look("$ws/mount");`,
  },
  {
    name: "enter the namespaces of a bystander",
    topic: "new namespaces",
    against: "files",
    bystander: "plain",
    script: `
      for my $kind ("user", "mnt", "pid", "net", "ipc") {
        for my $pid ($P{bystander}, $P{server}, 1) {
          open(my $file, "<", "/proc/$pid/ns/$kind") or note("$kind of $pid: $!") or next;
          call("setns", fileno $file, 0);
        }
      }
      my $process = call("pidfd_open", $P{bystander} + 0, 0); call("setns", $process, 0x20000) if defined $process;
      ${WRITE_ALL}`,
  },
  {
    name: "leave a root of our own",
    topic: "mounts",
    against: "files",
    script: `
      opendir(my $here, $ws); try("chroot", chroot("$ws/jail")); chdir($here);
      chdir("..") for 1 .. 20; try("chroot", chroot(".")); ${WRITE_ALL}`,
  },
  {
    name: "get a group by a program that sets it",
    topic: "set-id programs",
    against: "calls",
    needs: ["root"],
    prepare: async (place) => place.addProgram("setgid", await Deno.readFile("/usr/bin/id"), true),
    script: `
      my $group = qx{$ws/setgid -g}; chomp $group; note("the group is $group");
      done("we have the group $group") if $group eq $P{group};`,
  },
];
