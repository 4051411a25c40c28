/** Ways to a file outside the workspace by its names. */
import type { Attempt } from "../attempt.ts";

export const FILES: readonly Attempt[] = [
  {
    name: "write through a symbolic link that was there",
    topic: "symbolic links",
    against: "files",
    script: 'spit("link"); spit("dlink/victim");',
  },
  {
    name: "write through symbolic links made inside",
    topic: "symbolic links",
    against: "files",
    script: `
      symlink($out, "scratch/absolute"); symlink("../../out", "scratch/relative");
      spit("scratch/absolute/victim"); spit("scratch/relative/victim"); spit("scratch/absolute/new");`,
  },
  {
    name: "read what is denied through links and other names",
    topic: "symbolic links",
    against: "files",
    script: `
      symlink("$ws/denied", "scratch/way"); symlink("$ws/denied/secret", "scratch/file");
      link("denied/secret", "scratch/twin");
      show($_) for "denied/secret", "scratch/way/secret", "scratch/file", "scratch/twin", "scratch/../denied/secret",
        "/proc/self/root$ws/denied/secret", "/proc/self/cwd/denied/secret";
      chmod(0755, "denied"); chmod(0644, "denied/secret"); show("denied/secret");
      rename("denied", "scratch/moved"); show("scratch/moved/secret");`,
  },
  {
    name: "read what is outside",
    topic: "symbolic links",
    against: "files",
    script: 'show($_) for "$out/secret", "../out/secret", "dlink/secret", "/proc/self/root$out/secret";',
  },
  {
    name: "write through a hard link",
    topic: "hard links",
    against: "files",
    script: `
      try("link", link("$out/victim", "scratch/twin")); spit("scratch/twin");
      if (sysopen(my $file, "$out/victim", O_RDONLY)) {
        call("linkat", $HERE, "/proc/self/fd/" . fileno $file, $HERE, "scratch/other", 0x400);
        call("linkat", fileno $file, "", $HERE, "scratch/third", 0x1000);
        spit($_) for "scratch/other", "scratch/third";
      }`,
  },
  {
    name: "rename a file out of the victim's directory and one of ours over it",
    topic: "rename across",
    against: "files",
    script: `
      try("rename", rename("$out/victim", "scratch/stolen")); spit("scratch/stolen");
      try("rename", rename("scratch/file", "$out/victim")); try("rename", rename("scratch", "$out/empty"));`,
  },
  {
    name: "exchange a file with the victim",
    topic: "rename across",
    against: "files",
    script: 'call("renameat2", $HERE, "scratch/file", $HERE, "$out/victim", 2);',
  },
  {
    name: "go up by dot dot",
    topic: "dot dot",
    against: "files",
    script: `
      spit("../out/victim"); spit("scratch/../../out/victim"); mkdir("../out/new");
      chdir("../out") && spit("victim");
      if (opendir(my $here, $ws)) {
        my $file = call("openat", fileno $here, "../out/victim", O_WRONLY | O_APPEND, 0);
        if (defined $file) { open(my $handle, ">>&=", $file); syswrite($handle, "$run\\n") }
      }`,
  },
  {
    name: "make and remove things outside",
    topic: "dot dot",
    against: "files",
    script: `
      try("mkdir", mkdir("$out/new")); try("rmdir", rmdir("$out/empty")); try("unlink", unlink("$out/full/file"));
      try("truncate", truncate("$out/victim", 0)); try("symlink", symlink("x", "$out/symlink"));
      sh('mkfifo "$2/fifo"; rm -rf "$2/full"');`,
  },
  {
    name: "leave a file in directories of everybody",
    topic: "devices",
    against: "files",
    script: 'spit("$_/$run") for "/dev/shm", "/var/tmp", "/tmp";',
  },
  {
    name: "link a file without a name to one outside",
    topic: "hard links",
    against: "files",
    script: `
      my $unnamed = call("openat", $HERE, "scratch", ($X86 ? 020200000 : 020040000) | O_RDWR, 0644);
      call("linkat", $HERE, "/proc/self/fd/$unnamed", $HERE, "$out/linked", 0x400) if defined $unnamed;
      spit("$out/linked");`,
  },
  {
    name: "write what is sealed",
    topic: "symbolic links",
    against: "files",
    script: `
      spit("sealed/file"); spit("sealed/new"); unlink("sealed/file"); chmod(0777, "sealed/file");
      link("sealed/file", "scratch/twin") && spit("scratch/twin");
      rename("sealed", "moved") && mkdir("sealed"); spit("sealed/file");
      call("renameat2", $HERE, "scratch", $HERE, "sealed", 2);`,
  },
  {
    name: "write by the root of our own process",
    topic: "/proc/self/root",
    against: "files",
    script: `
      spit("$_$out/victim") for "/proc/self/root", "/proc/thread-self/root", "/proc/$$/root", "/proc/self/task/$$/root";
      spit("/proc/self/cwd/../out/victim");`,
  },
  {
    name: "open a file by its handle",
    topic: "file handles",
    against: "files",
    needs: ["root"],
    bystander: "plain",
    script: `
      my $handle = pack("H*", $P{handle});
      for my $directory ($ws, "/", "/dev/shm") {
        opendir(my $mount, $directory) or next;
        my $file = call("open_by_handle_at", fileno $mount, $handle, O_WRONLY | O_APPEND) // next;
        open(my $opened, ">>&=", $file); syswrite($opened, "$run\\n");
      }`,
  },
  {
    name: "dump core outside",
    topic: "core dumps",
    against: "files",
    needs: ["coreDumps"],
    script: `
      call("prlimit64", 0, 4, pack("q2", -1, -1), 0); call("prlimit64", 0, 4, pack("q2", 1 << 20, 1 << 20), 0);
      chdir("$out") or note("chdir: $!"); kill("SEGV", $$); sleep(5);`,
  },
];
