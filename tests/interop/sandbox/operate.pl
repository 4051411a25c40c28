# Tries operations in a sandbox and says what came of each: its number and what it found, or the name of the error. Words:
# one operation each, verb and operands, parted by tabulators.
use strict;
use warnings;
use Errno;
$| = 1;
my %NAME = map { no strict 'refs'; (&{"Errno::$_"}() => $_) } keys %!;
sub O_WRONLY() { 1 } sub O_CREAT() { 0100 } sub O_EXCL() { 0200 } sub O_TRUNC() { 01000 } sub O_APPEND() { 02000 }

my %DO = (
  stat => sub { my @of = lstat $_[0] or return; (-l _ ? 'link' : -d _ ? 'directory' : -f _ ? 'file' : 'other') },
  read => sub { open(my $file, '<', $_[0]) or return; defined sysread($file, my $text, 4096) or return; unpack 'H*', substr $text, 0, 8 },
  list => sub { opendir(my $directory, $_[0]) or return; join ' ', sort grep { !/^\.\.?$/ } readdir $directory },
  append => sub { sysopen(my $file, $_[0], O_WRONLY | O_APPEND) or return; syswrite $file, "appended\n" },
  create => sub { sysopen(my $file, $_[0], O_WRONLY | O_CREAT | O_EXCL, 0644) or return; syswrite $file, "created\n" },
  overwrite => sub { sysopen(my $file, $_[0], O_WRONLY | O_CREAT | O_TRUNC, 0644) or return; syswrite $file, "over\n" },
  mkdir => sub { mkdir $_[0] },
  rmdir => sub { rmdir $_[0] },
  unlink => sub { unlink $_[0] },
  rename => sub { rename $_[0], $_[1] },
  link => sub { link $_[0], $_[1] },
  symlink => sub { symlink $_[0], $_[1] },
  chmod => sub { chmod 0700, $_[0] },
  utime => sub { utime 1_000_000_000, 1_000_000_000, $_[0] },
  truncate => sub { truncate $_[0], 3 },
  enter => sub { chdir $_[0] },
  socket => sub { socket(my $socket, $_[0], $_[1], 0) },
  identity => sub { "$< $>" },
  place => sub { readlink '/proc/self/cwd' },
  devices => sub { opendir(my $directory, '/dev') or return; join ' ', sort grep { !/^\.\.?$/ } readdir $directory },
  privileges => sub { open(my $file, '<', '/proc/self/status') or return; join ' ', map { /^(?:Cap(?:Inh|Prm|Eff|Bnd|Amb)|NoNewPrivs|Seccomp):\s*(\S+)/ ? $1 : () } <$file> },
  environment => sub { join ' ', map { "$_=$ENV{$_}" } sort grep { !/^(?:PWD|OLDPWD|_|SHLVL)$/ } keys %ENV },
);

for my $number (0 .. $#ARGV) {
  my ($verb, @words) = split /\t/, $ARGV[$number];
  $! = 0;
  my $found = $DO{$verb}->(@words);
  print "$number ", (defined $found && $found ne '' && $found ne '0' || !$! ? "done " . ($found // '') : $NAME{$! + 0} // $! + 0), "\n";
}
