# What every attempt begins with. It finds facts in %P and says on stdout what became of it: BEGUN; DONE
# with what it did that only it can know; READ with what it read. What does not work is noted on stderr, and the attempt
# goes on to its next way.
use strict;
use warnings;
$| = 1;
our %P;
our ($ws, $out, $run) = @P{qw(ws out run)};
our $X86 = $P{arch} eq 'x86_64';

# What Fcntl and Socket would say; to load them takes longer than most attempts. The same on x86_64 and aarch64.
sub O_RDONLY() { 0 } sub O_WRONLY() { 1 } sub O_RDWR() { 2 } sub O_CREAT() { 0100 } sub O_APPEND() { 02000 }
sub F_SETFL() { 4 }
sub AF_UNIX() { 1 } sub AF_INET() { 2 } sub AF_INET6() { 10 } sub SOCK_STREAM() { 1 } sub SOCK_DGRAM() { 2 }
sub SOCK_RAW() { 3 }
sub on_loopback { return pack('S n a4 x8', AF_INET, $_[0], "\x7f\0\0\1") }
sub named { return pack('S a*', AF_UNIX, "$_[0]\0") }

# System calls that Perl has no name for: x86_64, aarch64.
our %CALLS = (
  ptrace => [101, 117], process_vm_readv => [310, 270], process_vm_writev => [311, 271], io_uring_setup => [425, 425],
  pidfd_open => [434, 434], pidfd_send_signal => [424, 424], pidfd_getfd => [438, 438], tgkill => [234, 131],
  rt_sigqueueinfo => [129, 138], mount => [165, 40], umount2 => [166, 39], setns => [308, 268], unshare => [272, 97],
  mount_setattr => [442, 442], open_tree => [428, 428], move_mount => [429, 429], renameat2 => [316, 276],
  open_by_handle_at => [304, 265], prlimit64 => [302, 261], setxattr => [188, 5], openat => [257, 56],
  linkat => [265, 37], mknodat => [259, 33], fchmodat2 => [452, 452], sendmsg => [46, 211], sendmmsg => [307, 269],
  sched_setaffinity => [203, 122], sched_setscheduler => [144, 119], ioprio_set => [251, 30], keyctl => [250, 219],
  memfd_create => [319, 279], fcntl => [72, 25], dup3 => [292, 24], socket => [41, 198], sendto => [44, 206], pivot_root => [155, 41],
);
our $HERE = -100;    # AT_FDCWD

sub note { print STDERR "@_\n"; return }
sub done { print "DONE: @_\n"; return 1 }

sub call {
  my ($name, @args) = @_;    # copies: Perl hands out no address of what is constant
  my $result = syscall($CALLS{$name}[$X86 ? 0 : 1], @args);
  note("$name: $!") if $result == -1;
  return $result == -1 ? undef : $result;
}

# Appends the name of the run, so that whoever finds it knows where it came from.
sub spit {
  my ($path) = @_;
  my $file;
  sysopen($file, $path, O_WRONLY | O_APPEND) or sysopen($file, $path, O_WRONLY | O_APPEND | O_CREAT, 0644)
    or return note("write $path: $!");
  return syswrite($file, "$run\n");
}

sub show {
  my ($path) = @_;
  open(my $file, '<', $path) or return note("read $path: $!");
  my $count = sysread($file, my $text, 65536);
  return defined $count ? print("READ: $text\n") : note("read $path: $!");
}

sub try { my ($what, $done) = @_; return $done || note("$what: $!") }

# The processes above this one, as far as they can be seen.
sub ancestors {
  my @found;
  for (my $pid = getppid(); $pid; ) {
    push @found, $pid;
    open(my $status, '<', "/proc/$pid/status") or last;
    ($pid) = map { /^PPid:\s*(\d+)/ ? $1 + 0 : () } <$status>;
  }
  return @found;
}

# Starts a shell script and waits for it.
sub sh { return system('/bin/sh', '-c', $_[0], 'sh', $ws, $out, $run) }

print "BEGUN\n";
