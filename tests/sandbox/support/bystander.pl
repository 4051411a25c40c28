# Someone who has nothing to do with the program in the sandbox. Listens on sockets and at a terminal, holds a secret and says on
# stdout whatever happens to it, until its standard input ends, which begins with the secret: words can be seen by everybody.
# Words: directory for sockets, abstract name, key of shared memory or 0, file whose handle is wanted, architecture.
use strict;
use warnings;
$| = 1;
my ($directory, $abstract, $key, $victim, $arch) = @ARGV;
sysread(STDIN, my $secret, 4096) or die "no secret";
my $x86 = $arch eq 'x86_64';
syscall($x86 ? 112 : 157);    # setsid
my $original = join("", split(//, $secret));    # not the same memory
my @heard;
for my $signal (qw(HUP INT QUIT USR1 USR2 TERM IO ALRM WINCH)) { $SIG{$signal} = sub { push @heard, "signal $signal" } }
$SIG{PIPE} = 'IGNORE';
my ($ioprio_get, $getaffinity, $getscheduler) = $x86 ? (252, 204, 145) : (31, 123, 120);
my $state = sub { my $mask = "\0" x 128; syscall($getaffinity, 0, 128, $mask);
  my $when = join ' ', syscall($getscheduler, 0), syscall($ioprio_get, 1, 0), unpack('H*', $mask); open(my $l, '<', '/proc/self/limits'); my ($files) = grep { /open files/ } <$l>;
  open(my $o, '<', '/proc/self/oom_score_adj'); return join ' ', getpriority(0, 0), $when, <$o>, $files };
my $before = $state->();

sub AF_UNIX() { 1 } sub AF_INET() { 2 } sub SOCK_STREAM() { 1 } sub SOCK_DGRAM() { 2 }
my $loopback = pack('S n a4 x8', AF_INET, 0, "\x7f\0\0\1");
my %listeners;
my %bound = (
  tcp => [AF_INET, SOCK_STREAM, $loopback],
  udp => [AF_INET, SOCK_DGRAM, $loopback],
  stream => [AF_UNIX, SOCK_STREAM, pack('S a*', AF_UNIX, "$directory/stream.sock\0")],
  dgram => [AF_UNIX, SOCK_DGRAM, pack('S a*', AF_UNIX, "$directory/dgram.sock\0")],
  abstract => [AF_UNIX, SOCK_STREAM, pack('S a*', AF_UNIX, "\0$abstract")],
  'abstract-dgram' => [AF_UNIX, SOCK_DGRAM, pack('S a*', AF_UNIX, "\0$abstract-dgram")],
);
for my $name (keys %bound) {
  my ($family, $type, $address) = @{ $bound{$name} };
  socket(my $socket, $family, $type, 0) or die "socket $name: $!";
  bind($socket, $address) or die "bind $name: $!";
  if ($type == SOCK_STREAM) { listen($socket, 8) or die "listen $name: $!" }
  $listeners{$name} = $socket;
}
my ($tcp) = unpack('x2 n', getsockname $listeners{tcp});
my ($udp) = unpack('x2 n', getsockname $listeners{udp});
my $segment = '';
if ($key) {
  $segment = shmget($key, 4096, 01600) // die "shmget: $!";    # IPC_CREAT
  shmwrite($segment, $secret, 0, length $secret);
}
# A terminal, of which nobody is told.
sysopen(my $master, '/dev/ptmx', 02 | 0400) or die "/dev/ptmx: $!";
ioctl($master, 0x40045431, my $unlocked = pack('i', 0)) or die "TIOCSPTLCK: $!";
ioctl($master, 0x80045430, my $number = pack('i', 0)) or die "TIOCGPTN: $!";
my $terminal = '/dev/pts/' . unpack('i', $number);
open(my $held, '>>', $victim) or die "$victim: $!";
my $handle = pack('I i a128', 128, 0, '');
my $mount = pack('i', 0);
my $named = syscall($x86 ? 303 : 264, -100, $victim, $handle, $mount, 0);
my ($bytes) = unpack('I', $handle);
$handle = $named == 0 ? unpack('H*', substr($handle, 0, 8 + $bytes)) : '';
my $memory = unpack('J', pack('p', $secret));
my $fd = fileno $held;
print "ready tcp=$tcp udp=$udp memory=$memory length=", length $secret, " fd=$fd segment=$segment handle=$handle terminal=$terminal\n";

my $over = 0;
until ($over) {
  print "heard $_\n" for splice @heard;
  my $wanted = '';
  vec($wanted, fileno $_, 1) = 1 for \*STDIN, values %listeners, $master // ();
  next if select(my $ready = $wanted, undef, undef, undef) < 0;
  for my $name (sort keys %listeners) {
    my $socket = $listeners{$name};
    next unless vec($ready, fileno $socket, 1);
    if ($bound{$name}[1] == SOCK_STREAM) { accept(my $peer, $socket); print "heard connection $name\n" }
    else { recv($socket, my $text, 65536, 0); print "heard datagram $name\n" }
  }
  if ($master && vec($ready, fileno $master, 1)) { print "heard terminal\n"; undef $master }
  $over = 1 if vec($ready, 0, 1) && !sysread(STDIN, my $ignored, 1);
}
print "heard $_\n" for splice @heard;
print "heard memory changed\n" if $secret ne $original;
print "heard limits changed\n" if $state->() ne $before;
print "over\n";
