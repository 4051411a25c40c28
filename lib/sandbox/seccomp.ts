/**
 * The seccomp filter that keeps a program from the network; the same bytes for bubblewrap's `--seccomp` and for prctl().
 *
 * Three rules are tighter than the reference's: a datagram socket of the Unix family can reach any other one by its path
 * with sendmsg(), whose address no filter sees, so it is not to be had; pidfd_getfd() takes sockets out of others; and
 * keys are nobody's business.
 */

import { EPERM } from "../linux/errno.ts";
import { BpfProgram } from "./bpf.ts";
import type { NetworkAccess } from "./policy.ts";
import { type Machine, type SystemCall, systemCallNumber } from "./syscall_numbers.ts";

/** Offsets in `struct seccomp_data`; of an argument the lower half, which is all that the kernel takes of an `int`. */
const NUMBER = 0;
const ARCHITECTURE = 4;
const FAMILY = 16;
const TYPE = 24;

/** AUDIT_ARCH_X86_64 and AUDIT_ARCH_AARCH64. */
const ARCHITECTURES: Readonly<Record<Machine, number>> = { x86_64: 0xc000003e, aarch64: 0xc00000b7 };
/** __X32_SYSCALL_BIT: the second way into an x86-64 kernel, with numbers of its own. */
const X32 = 0x40000000;

/** SECCOMP_RET_*. */
const ALLOW = 0x7fff0000;
const REFUSE = 0x00050000 | EPERM;
const KILL = 0x80000000;

const AF_UNIX = 1;
const AF_VSOCK = 40;
const SOCK_DGRAM = 2;
/** Of the Unix family the same as SOCK_DGRAM. */
const SOCK_RAW = 3;
/** Without SOCK_CLOEXEC and SOCK_NONBLOCK. */
const SOCK_TYPE_MASK = 0xf;

const MAKING_SOCKETS: readonly SystemCall[] = ["socket", "socketpair"];
/** It makes sockets and sends without a system call that a filter could see. */
const IO_URING: readonly SystemCall[] = ["io_uring_setup", "io_uring_enter", "io_uring_register"];
/** No namespace keeps the keys of the session that we are in away from those who are started in it. */
const USING_KEYS: readonly SystemCall[] = ["add_key", "keyctl"];
const USING_NETWORKS: readonly SystemCall[] = [
  "connect",
  "accept",
  "accept4",
  "bind",
  "listen",
  "getsockname",
  "getpeername",
  "shutdown",
  "setsockopt",
  "getsockopt",
  "sendto",
  "sendmmsg",
  "recvmmsg",
];
/** What lets somebody else's network be used. */
const USING_OTHERS: readonly SystemCall[] = [
  "ptrace",
  "request_key",
  "process_vm_readv",
  "process_vm_writev",
  "pidfd_getfd",
];

/**
 * The filter as an array of `struct sock_filter`. What it refuses fails with EPERM; a call of another architecture's
 * interface, whose numbers it does not know, kills the process, and one of x32 is refused.
 *
 * @param network With `enabled` only virtual machines' sockets, io_uring and keys are refused.
 */
export function networkFilter(machine: Machine, network: NetworkAccess): Uint8Array<ArrayBuffer> {
  const program = new BpfProgram();
  program.load(ARCHITECTURE).jumpIfEqual(ARCHITECTURES[machine], "ours").return(KILL);
  program.label("ours").load(NUMBER);
  if (machine === "x86_64") program.jumpIfAtLeast(X32, "refuse");
  const refused = [...IO_URING, ...USING_KEYS];
  if (network === "restricted") refused.push(...USING_NETWORKS, ...USING_OTHERS);
  for (const name of refused) program.jumpIfEqual(systemCallNumber(machine, name), "refuse");
  for (const name of MAKING_SOCKETS) program.jumpIfEqual(systemCallNumber(machine, name), "family");
  program.return(ALLOW);
  program.label("family").load(FAMILY);
  if (network === "enabled") program.jumpIfEqual(AF_VSOCK, "refuse").return(ALLOW);
  else {
    program.jumpIfEqual(AF_UNIX, "type").return(REFUSE);
    program.label("type").load(TYPE).and(SOCK_TYPE_MASK);
    program.jumpIfEqual(SOCK_DGRAM, "refuse").jumpIfEqual(SOCK_RAW, "refuse").return(ALLOW);
  }
  return program.label("refuse").return(REFUSE).encode();
}
