/** System calls by ways that a filter may forget, and devices. */
import { appendProgram, datagramProgram } from "../../support/elf.ts";
import type { Attempt } from "../attempt.ts";

export const CALLS: readonly Attempt[] = [
  {
    name: "set up a ring of io_uring",
    topic: "io_uring",
    against: "calls",
    script: `
      my $parameters = "\\0" x 120; my $ring = call("io_uring_setup", 4, $parameters);
      done("there is a ring") if defined $ring;`,
  },
  {
    name: "read a key of the session that the server is in",
    topic: "keys",
    against: "calls",
    needs: ["keys"],
    script: `
      my ($type, $name, $text) = ("user", "escape-suite", "\\0" x 64); my $key = call("keyctl", 10, -3, $type, $name, 0);
      my $length = defined $key ? call("keyctl", 11, $key, unpack("J", pack("P", $text)), 64) : undef;
      print "READ: ", substr($text, 0, $length), "\\n" if defined $length;`,
  },
  {
    name: "call by x32 numbers",
    topic: "x32 and 32-bit calls",
    against: "network",
    needs: ["x32"],
    bystander: "plain",
    script: `
      if ($X86) {
        my $socket = syscall(0x40000000 | 41, AF_INET, SOCK_DGRAM, 0); my $address = on_loopback($P{udp});
        $socket == -1 ? note("socket: $!") : syscall(0x40000000 | 44, $socket, $run, length $run, 0, $address, length $address);
      }`,
  },
  ...[32, 64].map((bits): Attempt => ({
    name: `send by 32-bit calls of a program of ${bits} bits`,
    topic: "x32 and 32-bit calls",
    against: "network",
    needs: ["x86_64"],
    bystander: "plain",
    async prepare(place, facts) {
      await place.addProgram("send", datagramProgram(bits === 32 ? 32 : 64, Number(facts["udp"]), place.run));
    },
    script: `my $code = system("$ws/send"); note("ended by signal ", $code & 127) if $code & 127;`,
  })),
  ...[32, 64].map((bits): Attempt => ({
    name: `write by 32-bit calls of a program of ${bits} bits`,
    topic: "x32 and 32-bit calls",
    against: "files",
    needs: ["x86_64"],
    async prepare(place) {
      await place.addProgram("append", appendProgram(bits === 32 ? 32 : 64, `${place.out}/victim`, place.run));
    },
    script: `my $code = system("$ws/append"); note("ended by signal ", $code & 127) if $code & 127;`,
  })),
  {
    name: "make a device node",
    topic: "devices",
    against: "files",
    needs: ["root"],
    script: `
      for my $path ("scratch/made", "/dev/shm/$run") {
        call("mknodat", $HERE, $path, 020666, 0x105);
        sysopen(my $device, $path, O_RDONLY) or note("$path: $!") or next;
        done("$path gives zeros") if sysread($device, my $zeros, 4) == 4; unlink($path);
      }`,
  },
  {
    name: "open device nodes of the suite",
    topic: "devices",
    against: "files",
    needs: ["root"],
    prepare: (place) => place.addDevices(),
    script: `
      for my $path ("$out/zero", "$ws/zero") {
        sysopen(my $device, $path, O_RDONLY) or note("$path: $!") or next;
        done("$path gives zeros") if sysread($device, my $zeros, 4) == 4;
      }`,
  },
];
