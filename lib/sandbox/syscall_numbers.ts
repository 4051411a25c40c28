/** Numbers of the system calls that filters name; arch/x86/entry/syscalls/syscall_64.tbl and asm-generic/unistd.h of Linux. */

export type Machine = "x86_64" | "aarch64";

export type SystemCall = keyof typeof NUMBERS["x86_64"];

const NUMBERS = {
  x86_64: {
    socket: 41,
    connect: 42,
    accept: 43,
    sendto: 44,
    shutdown: 48,
    bind: 49,
    listen: 50,
    getsockname: 51,
    getpeername: 52,
    socketpair: 53,
    setsockopt: 54,
    getsockopt: 55,
    ptrace: 101,
    add_key: 248,
    request_key: 249,
    keyctl: 250,
    accept4: 288,
    recvmmsg: 299,
    sendmmsg: 307,
    process_vm_readv: 310,
    process_vm_writev: 311,
    io_uring_setup: 425,
    io_uring_enter: 426,
    io_uring_register: 427,
    pidfd_getfd: 438,
  },
  aarch64: {
    socket: 198,
    socketpair: 199,
    bind: 200,
    listen: 201,
    accept: 202,
    connect: 203,
    getsockname: 204,
    getpeername: 205,
    sendto: 206,
    setsockopt: 208,
    getsockopt: 209,
    shutdown: 210,
    ptrace: 117,
    add_key: 217,
    request_key: 218,
    keyctl: 219,
    accept4: 242,
    recvmmsg: 243,
    sendmmsg: 269,
    process_vm_readv: 270,
    process_vm_writev: 271,
    io_uring_setup: 425,
    io_uring_enter: 426,
    io_uring_register: 427,
    pidfd_getfd: 438,
  },
} as const;

export function systemCallNumber(machine: Machine, name: SystemCall): number {
  return NUMBERS[machine][name];
}
