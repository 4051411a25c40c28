/** Sockets, all aimed at the bystander's. */
import type { Attempt } from "../attempt.ts";

/** Perl: sends to a name without `connect` and without `sendto`. */
const SENDMSG = `
  sub sendmsg {
    my ($socket, $address) = @_;
    my $piece = pack("p Q", $run, length $run);
    my $message = pack("p I x4 P Q Q Q i x4", $address, length $address, $piece, 1, 0, 0, 0);
    call("sendmsg", fileno $socket, $message, 0);
    my $many = $message . pack("I x4", 0);
    call("sendmmsg", fileno $socket, $many, 1, 0);
  }`;

/** Perl: a question for `example.invalid`. */
const QUESTION = 'my $question = pack("n6", 7, 0x100, 1, 0, 0, 0) . "\\7example\\7invalid\\0" . pack("n2", 1, 1);';

export const NETWORK: readonly Attempt[] = [
  {
    name: "connect by TCP",
    topic: "TCP",
    against: "network",
    bystander: "plain",
    script: `
      socket(my $socket, AF_INET, SOCK_STREAM, 0) or note("socket: $!");
      try("connect", connect($socket, on_loopback($P{tcp}))); syswrite($socket, $run);`,
  },
  {
    name: "connect by TCP while sending",
    topic: "TCP",
    against: "network",
    bystander: "plain",
    script: `
      socket(my $socket, AF_INET, SOCK_STREAM, 0) or note("socket: $!");
      try("send", send($socket, $run, 0x20000000, on_loopback($P{tcp})));`,
  },
  {
    name: "listen by TCP",
    topic: "TCP",
    against: "network",
    script: `
      socket(my $socket, AF_INET, SOCK_STREAM, 0) or note("socket: $!");
      done("a port is open") if bind($socket, on_loopback(0)) && listen($socket, 1);`,
  },
  {
    name: "send by UDP",
    topic: "UDP",
    against: "network",
    bystander: "plain",
    script: `${SENDMSG}
      socket(my $socket, AF_INET, SOCK_DGRAM, 0) or note("socket: $!");
      my $address = on_loopback($P{udp});
      try("send", send($socket, $run, 0, $address)); sendmsg($socket, $address);
      connect($socket, $address) && syswrite($socket, $run);
      socket(my $six, AF_INET6, SOCK_DGRAM, 0) or note("socket: $!");
      try("send", send($six, $run, 0, pack("S n N x10 a6 N", AF_INET6, $P{udp}, 0, "\\xff\\xff\\x7f\\0\\0\\1", 0)));`,
  },
  {
    name: "ask for a name by UDP and TCP",
    topic: "DNS",
    against: "network",
    bystander: "plain",
    script: `${QUESTION}
      socket(my $socket, AF_INET, SOCK_DGRAM, 0) or note("socket: $!");
      try("send", send($socket, $question, 0, on_loopback($P{udp})));
      socket(my $stream, AF_INET, SOCK_STREAM, 0) or note("socket: $!");
      try("connect", connect($stream, on_loopback($P{tcp})))
        && syswrite($stream, pack("n/a*", $question));`,
  },
  {
    name: "connect to a unix socket",
    topic: "unix sockets",
    against: "network",
    bystander: "plain",
    script: `
      socket(my $socket, AF_UNIX, SOCK_STREAM, 0) or note("socket: $!"); symlink("$out/stream.sock", "scratch/sock");
      for my $path ("$out/stream.sock", "scratch/sock") {
        try("connect", connect($socket, named($path))) && syswrite($socket, $run);
      }`,
  },
  {
    name: "send to a unix socket without connecting",
    topic: "unix sockets",
    against: "network",
    bystander: "plain",
    script: `${SENDMSG}
      my $address = named("$out/dgram.sock");
      socket(my $socket, AF_UNIX, SOCK_DGRAM, 0) or note("socket: $!");
      try("send", send($socket, $run, 0, $address)); sendmsg($socket, $address);`,
  },
  {
    name: "send to a unix socket from a pair of sockets",
    topic: "unix sockets",
    against: "network",
    bystander: "plain",
    script: `${SENDMSG}
      socketpair(my $near, my $far, AF_UNIX, SOCK_DGRAM, 0) or note("socketpair: $!");
      sendmsg($near, named("$out/dgram.sock"));`,
  },
  {
    name: "make a unix socket",
    topic: "unix sockets",
    against: "network",
    script: `
      socket(my $socket, AF_UNIX, SOCK_STREAM, 0) or note("socket: $!");
      done("a socket is there") if bind($socket, named("scratch/mine.sock")) && -S "scratch/mine.sock";`,
  },
  {
    name: "connect to an abstract socket",
    topic: "abstract sockets",
    against: "network",
    bystander: "plain",
    script: `
      socket(my $socket, AF_UNIX, SOCK_STREAM, 0) or note("socket: $!");
      try("connect", connect($socket, pack("S a*", AF_UNIX, "\\0$run")));`,
  },
  {
    name: "send to an abstract socket without connecting",
    topic: "abstract sockets",
    against: "network",
    bystander: "plain",
    script: `${SENDMSG}
      socket(my $socket, AF_UNIX, SOCK_DGRAM, 0) or note("socket: $!"); my $address = pack("S a*", AF_UNIX, "\\0$run-dgram");
      try("send", send($socket, $run, 0, $address)); sendmsg($socket, $address);`,
  },
  {
    name: "open raw and packet sockets",
    topic: "raw and netlink sockets",
    against: "network",
    needs: ["root"],
    script: `
      for ([AF_INET, SOCK_RAW, 255], [AF_INET6, SOCK_RAW, 255], [17, SOCK_RAW, 0], [17, SOCK_DGRAM, 0]) {
        done("socket @$_ is open") if try("socket @$_", socket(my $socket, $$_[0], $$_[1], $$_[2]));
      }`,
  },
  {
    name: "ask the kernel by netlink",
    topic: "raw and netlink sockets",
    against: "network",
    script: `
      socket(my $socket, 16, SOCK_RAW, 0) or note("socket: $!");
      try("write", syswrite($socket, pack("I S S I I C x3 x12", 32, 18, 0x301, 1, 0, 0)));
      done("netlink answers") if sysread($socket, my $answer, 65536);
      socketpair(my $near, my $far, 16, SOCK_RAW, 0) && done("a pair of netlink sockets");`,
  },
  {
    name: "open sockets of other families",
    topic: "raw and netlink sockets",
    against: "network",
    // The kernel's ciphers, and virtual machines: no sockets that would have the kernel load a module for a device.
    script: `
      for ([38, 5], [40, 1]) {
        done("socket of family $$_[0] is open") if try("socket $$_[0]", socket(my $socket, $$_[0], $$_[1], 0));
      }`,
  },
];
