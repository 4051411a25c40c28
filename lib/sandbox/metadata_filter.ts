/**
 * The seccomp filter that stands in where Landlock has no rule: modes, owners, times and attributes of files, limits,
 * priorities and processors of other processes, and what processes share by numbers and names that are no files. Landlock lets them be
 * changed anywhere; with this filter they can be changed nowhere.
 */

import { ENOSYS, EPERM, EROFS } from "../linux/errno.ts";
import { BpfProgram } from "./bpf.ts";
import type { Machine } from "./syscall_numbers.ts";

/** Offsets in `struct seccomp_data`. */
const NUMBER = 0;
const ARCHITECTURE = 4;
const FIRST_ARGUMENT = 16;
const SECOND_ARGUMENT = 24;

/** AUDIT_ARCH_X86_64 and AUDIT_ARCH_AARCH64. */
const ARCHITECTURES: Readonly<Record<Machine, number>> = { x86_64: 0xc000003e, aarch64: 0xc00000b7 };
/** __X32_SYSCALL_BIT. */
const X32 = 0x40000000;

/** SECCOMP_RET_*. */
const ALLOW = 0x7fff0000;
const READ_ONLY = 0x00050000 | EROFS;
const REFUSE = 0x00050000 | EPERM;
const MISSING = 0x00050000 | ENOSYS;
const KILL = 0x80000000;

/** fchmodat2, setxattrat, removexattrat, file_setattr: one number on all machines. */
const NEW_CALLS = [452, 463, 466, 469];
const CHANGING_METADATA: Readonly<Record<Machine, readonly number[]>> = {
  x86_64: [
    ...[90, 91, 92, 93, 94, 260, 268], // chmod, fchmod, chown, fchown, lchown, fchownat, fchmodat
    ...[132, 235, 261, 280], // utime, utimes, futimesat, utimensat
    ...[188, 189, 190, 197, 198, 199], // setxattr, lsetxattr, fsetxattr, and remove…
    ...NEW_CALLS,
  ],
  aarch64: [
    ...[52, 53, 54, 55], // fchmod, fchmodat, fchownat, fchown
    88, // utimensat
    ...[5, 6, 7, 14, 15, 16], // setxattr, lsetxattr, fsetxattr, and remove…
    ...NEW_CALLS,
  ],
};
const IOCTL: Readonly<Record<Machine, number>> = { x86_64: 16, aarch64: 29 };
const SETPRIORITY: Readonly<Record<Machine, number>> = { x86_64: 141, aarch64: 140 };
const PRIO_PROCESS = 0;
const IOPRIO_SET: Readonly<Record<Machine, number>> = { x86_64: 251, aarch64: 30 };
const IOPRIO_WHO_PROCESS = 1;
/** Their first argument is a process, 0 for oneself: prlimit64; sched_setparam, …setscheduler, …setaffinity, …setattr. */
const OF_A_PROCESS: Readonly<Record<Machine, readonly number[]>> = {
  x86_64: [302, 142, 144, 203, 314],
  aarch64: [261, 118, 119, 122, 274],
};

/** Shared memory, semaphores and message queues: there is no namespace that would keep those of others away. */
const SHARING: Readonly<Record<Machine, readonly number[]>> = {
  x86_64: [
    ...[29, 30, 31], // shmget, shmat, shmctl
    ...[64, 65, 66, 220], // semget, semop, semctl, semtimedop
    ...[68, 69, 70, 71], // msgget, msgsnd, msgrcv, msgctl
    ...[240, 241], // mq_open, mq_unlink
  ],
  aarch64: [
    ...[194, 196, 195],
    ...[190, 193, 191, 192],
    ...[186, 189, 188, 187],
    ...[180, 181],
  ],
};

/** What changes something by a descriptor that was opened for reading. */
const CHANGING_ATTRIBUTES = [
  // FS_IOC_SETFLAGS, FS_IOC_SETVERSION, FS_IOC_FSSETXATTR, FS_IOC_ENABLE_VERITY, FS_IOC_SET_ENCRYPTION_POLICY
  ...[0x40086602, 0x40087602, 0x401c5820, 0x40806685, 0x800c6613],
  // BTRFS_IOC_SNAP_CREATE and …_V2, SUBVOL_CREATE and …_V2, SNAP_DESTROY and …_V2, SUBVOL_SETFLAGS
  ...[0x50009401, 0x50009417, 0x5000940e, 0x50009418, 0x5000940f, 0x5000943f, 0x4008941a],
];

/**
 * An array of `struct sock_filter`: EROFS for what changes a file's metadata, EPERM for limits, priority and the like of
 * a process that is given by its number, ENOSYS, as on a kernel that has none of it, for what is shared without files. The rest is
 * allowed.
 */
export function metadataFilter(machine: Machine): Uint8Array<ArrayBuffer> {
  const program = new BpfProgram();
  program.load(ARCHITECTURE).jumpIfEqual(ARCHITECTURES[machine], "ours").return(KILL);
  program.label("ours").load(NUMBER);
  if (machine === "x86_64") program.jumpIfAtLeast(X32, "refuse");
  for (const number of CHANGING_METADATA[machine]) program.jumpIfEqual(number, "readOnly");
  for (const number of SHARING[machine]) program.jumpIfEqual(number, "missing");
  for (const number of OF_A_PROCESS[machine]) program.jumpIfEqual(number, "process");
  program.jumpIfEqual(IOCTL[machine], "ioctl").jumpIfEqual(IOPRIO_SET[machine], "ioPriority");
  program.jumpIfEqual(SETPRIORITY[machine], "priority").return(ALLOW);
  program.label("ioctl").load(SECOND_ARGUMENT);
  for (const request of CHANGING_ATTRIBUTES) program.jumpIfEqual(request, "readOnly");
  program.return(ALLOW);
  program.label("process").load(FIRST_ARGUMENT).jumpIfEqual(0, "allow").return(REFUSE);
  program.label("ioPriority").load(FIRST_ARGUMENT).jumpIfEqual(IOPRIO_WHO_PROCESS, "itself").return(REFUSE);
  program.label("priority").load(FIRST_ARGUMENT).jumpIfEqual(PRIO_PROCESS, "itself").return(REFUSE);
  program.label("itself").load(SECOND_ARGUMENT).jumpIfEqual(0, "allow").return(REFUSE);
  program.label("allow").return(ALLOW);
  program.label("missing").return(MISSING);
  program.label("readOnly").return(READ_ONLY);
  return program.label("refuse").return(REFUSE).encode();
}
