# Runs several programs side by side and says what each says, line by line, after its number and a tabulator. Words: what
# every program begins with; then for each program its facts, NAME=VALUE in lines, and its text.
use strict;
use warnings;
$| = 1;
my ($prelude, @words) = @ARGV;
my @pipes;
while (my ($facts, $text) = splice @words, 0, 2) {
  pipe(my $output, my $input) or die "pipe: $!";
  my $child = fork() // die "fork: $!";
  if ($child == 0) {
    close $_ for $output, @pipes;
    open(STDOUT, '>&', $input);
    open(STDERR, '>&', $input);
    close $input;
    our %P = map { split /=/, $_, 2 } split /\n/, $facts;
    # System calls are given the address of what is a string.
    $_ += 0 for grep { /^\d{1,18}\z/ } values %P;
    chdir($P{ws}) or warn "chdir: $!\n";
    eval "$prelude\n$text\n;1" or print "BROKEN: $@\n";
    exit(0);
  }
  close $input;
  push @pipes, $output;
}
for my $number (0 .. $#pipes) {
  my $output = $pipes[$number];
  print "$number\t$_" . (/\n\z/ ? "" : "\n") while <$output>;
}
1 while wait() > 0;
