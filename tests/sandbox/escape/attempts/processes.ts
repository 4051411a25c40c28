/** Ways to what runs outside: the server and a bystander. */
import type { Attempt } from "../attempt.ts";

export const PROCESSES: readonly Attempt[] = [
  {
    name: "write by the root and the directories of other processes",
    topic: "/proc of the server",
    against: "files",
    script: `
      for my $pid (1, $P{server}, ancestors()) { spit("/proc/$pid/root$out/victim"); spit("/proc/$pid/cwd" . "/.." x 20 . "$out/victim") }`,
  },
  {
    name: "read the environment of the server and of the processes above",
    topic: "/proc of the server",
    against: "processes",
    script: `
      for my $pid ($P{server}, ancestors()) {
        open(my $file, "<", "/proc/$pid/environ") or next;
        local $/; my $text = <$file> // next;
        print "READ: $1\\n" if $text =~ /ESCAPE_SUITE_SECRET=([^\\0]*)/;
      }
      print "READ: $ENV{ESCAPE_SUITE_SECRET}\\n" if exists $ENV{ESCAPE_SUITE_SECRET};`,
  },
  {
    name: "write to descriptors of the server and of the processes above",
    topic: "open descriptors",
    against: "processes",
    script: `
      for my $pid (1, $P{server}, ancestors()) {
        opendir(my $all, "/proc/$pid/fd") or next;
        for my $fd (grep { /^\\d+$/ } readdir $all) {
          my $target = readlink("/proc/$pid/fd/$fd") // next;
          spit("/proc/$pid/fd/$fd") if $target eq $P{serverVictim};
        }
      }`,
  },
  {
    name: "take a descriptor out of the server",
    topic: "open descriptors",
    against: "processes",
    script: `
      for my $pid ($P{server}, ancestors()) {
        my $process = call("pidfd_open", $pid, 0) // next;
        my $taken = call("pidfd_getfd", $process, 9, 0) // next;
        next if (readlink("/proc/self/fd/$taken") // "") ne $P{serverVictim};
        open(my $file, ">>&=", $taken); syswrite($file, "$run\\n");
      }`,
  },
  {
    name: "use descriptors that were left open",
    topic: "open descriptors",
    against: "processes",
    leaks: 9,
    script: `
      opendir(my $all, "/proc/self/fd"); my $own = fileno $all;
      for my $fd (grep { /^\\d+$/ && $_ > 2 && $_ != $own } readdir $all) {
        my $target = readlink("/proc/self/fd/$fd") // next;
        next if $target =~ m{^(/dev/null|/proc/)};
        done("descriptor $fd is open on $target");
        next if $target ne $P{serverVictim};
        open(my $file, ">>&=", $fd); syswrite($file, "$run\\n");
      }`,
  },
  {
    name: "read and write the files of a bystander's process",
    topic: "/proc of the server",
    against: "processes",
    bystander: "plain",
    script: `
      spit("/proc/$P{bystander}/fd/$P{fd}");
      for my $name ("environ", "cmdline") { show("/proc/$P{bystander}/$name") }
      if (sysopen(my $memory, "/proc/$P{bystander}/mem", O_RDWR)) {
        sysseek($memory, $P{memory}, 0); sysread($memory, my $text, $P{length}); print "READ: $text\\n";
        sysseek($memory, $P{memory}, 0); syswrite($memory, "X");
      }
      if (sysopen(my $score, "/proc/$P{bystander}/oom_score_adj", O_WRONLY)) { syswrite($score, "500") }`,
  },
  {
    name: "send signals to a bystander",
    topic: "signals outside",
    against: "processes",
    bystander: "plain",
    script: `
      my $pid = $P{bystander};
      try("kill", kill("USR1", $pid)); try("kill", kill("-HUP", $pid)); call("tgkill", $pid, $pid, 12);
      call("rt_sigqueueinfo", $pid, 15, pack("i4 x112", 15, 0, -1, 0));
      my $process = call("pidfd_open", $pid, 0); call("pidfd_send_signal", $process, 2, 0, 0) if defined $process;`,
  },
  {
    name: "kill a bystander",
    topic: "signals outside",
    against: "processes",
    bystander: "plain",
    script: 'try("kill", kill("KILL", $P{bystander}));',
  },
  {
    name: "have the kernel signal a bystander when input arrives",
    topic: "signals outside",
    against: "processes",
    bystander: "plain",
    script: `
      socketpair(my $near, my $far, AF_UNIX, SOCK_STREAM, 0) or note("socketpair: $!");
      try("owner", fcntl($near, 8, $P{bystander} + 0)); try("async", fcntl($near, F_SETFL, 020000)); syswrite($far, "x");
      select(undef, undef, undef, 0.01);`,
  },
  {
    name: "change limits and priority of a bystander",
    topic: "signals outside",
    against: "processes",
    bystander: "plain",
    script: `
      call("prlimit64", $P{bystander} + 0, 7, pack("Q2", 100, 100), 0);
      try("setpriority", eval { setpriority(0, $P{bystander}, 7) });`,
  },
  {
    name: "change when and where a bystander runs",
    topic: "signals outside",
    against: "processes",
    bystander: "plain",
    script: `
      my ($pid, $none, $first) = ($P{bystander} + 0, pack("i", 0), pack("Q", 1));
      call("sched_setscheduler", $pid, 3, $none); call("ioprio_set", 1, $pid, 3 << 13);
      call("sched_setaffinity", $pid, 8, $first);`,
  },
  {
    name: "write to a terminal of a bystander",
    topic: "terminals",
    against: "files",
    bystander: "plain",
    script: `
      # Not as our own terminal.
      if (sysopen(my $terminal, $P{terminal}, O_WRONLY | 0400)) { syswrite($terminal, "$run\\n") }
      else { note("$P{terminal}: $!") }`,
  },
  {
    name: "read shared memory of a bystander",
    topic: "shared memory",
    against: "processes",
    bystander: "sharedMemory",
    script: `
      for my $id (shmget($P{key}, 0, 0), $P{segment}) {
        next unless defined $id; my $text = "";
        shmread($id, $text, 0, $P{length}) ? print("READ: $text\\n") : note("shmread: $!");
      }`,
  },
  {
    name: "trace a bystander",
    topic: "ptrace",
    against: "calls",
    bystander: "plain",
    script: `
      my $pid = $P{bystander} + 0;
      if (defined call("ptrace", 16, $pid, 0, 0)) {
        waitpid($pid, 0x40000000); my $text = "";
        for (my $at = 0; $at < $P{length}; $at += 8) {
          my $word = "\\0" x 8; call("ptrace", 2, $pid, $P{memory} + $at, unpack("J", pack("P", $word))); $text .= $word;
        }
        print "READ: $text\\n"; call("ptrace", 5, $pid, $P{memory} + 0, 0x58585858); call("ptrace", 17, $pid, 0, 0);
      }`,
  },
  {
    name: "read and write the memory of a bystander",
    topic: "ptrace",
    against: "calls",
    bystander: "plain",
    script: `
      my $text = "\\0" x $P{length}; my $own = pack("p Q", $text, $P{length}); my $other = pack("Q2", $P{memory}, $P{length});
      call("process_vm_readv", $P{bystander} + 0, $own, 1, $other, 1, 0); print "READ: $text\\n";
      $text = "X" x $P{length}; $own = pack("p Q", $text, $P{length});
      call("process_vm_writev", $P{bystander} + 0, $own, 1, $other, 1, 0);`,
  },
];
