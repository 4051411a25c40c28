/**
 * The C library of Linux, glibc 2.27 or newer on x86-64 and arm64. Only this file, `file_calls.ts`, `system_call.ts` and
 * `tcp.ts` open it; importing does so (about 0.3 ms a function, once).
 *
 * Every function here follows the kernel's own convention: the result, or the negated error number. That is because
 * `errno` is only good directly after a call and must be read on the same thread; nobody else touches it.
 * Buffers must be of their own `ArrayBuffer`; sizes are bytes.
 */

/** A variadic function (ioctl, fcntl) takes integers and pointers like any other on both machines that we support. */
const SYMBOLS = {
  __errno_location: { parameters: [], result: "pointer" },
  // descriptors
  close: { parameters: ["i32"], result: "i32" },
  read: { parameters: ["i32", "buffer", "usize"], result: "isize" },
  write: { parameters: ["i32", "buffer", "usize"], result: "isize" },
  pwrite: { parameters: ["i32", "buffer", "usize", "i64"], result: "isize" },
  pipe2: { parameters: ["buffer", "i32"], result: "i32" },
  fcntl: { parameters: ["i32", "i32", "i32"], result: "i32" },
  ioctl: { parameters: ["i32", "u64", "buffer"], result: "i32" },
  memfd_create: { parameters: ["buffer", "u32"], result: "i32" },
  // waiting
  epoll_create1: { parameters: ["i32"], result: "i32" },
  epoll_ctl: { parameters: ["i32", "i32", "i32", "buffer"], result: "i32" },
  epoll_wait: { parameters: ["i32", "buffer", "i32", "i32"], result: "i32", nonblocking: true },
  eventfd: { parameters: ["u32", "i32"], result: "i32" },
  // files
  access: { parameters: ["buffer", "i32"], result: "i32" },
  open: { parameters: ["buffer", "i32", "u32"], result: "i32" },
  chdir: { parameters: ["buffer"], result: "i32" },
  fchdir: { parameters: ["i32"], result: "i32" },
  // terminals
  posix_openpt: { parameters: ["i32"], result: "i32" },
  grantpt: { parameters: ["i32"], result: "i32" },
  unlockpt: { parameters: ["i32"], result: "i32" },
  ptsname_r: { parameters: ["i32", "buffer", "usize"], result: "i32" },
  // processes
  syscall: { parameters: ["i64", "i64", "i64", "i64", "i64"], result: "i64" },
  waitpid: { parameters: ["i32", "buffer", "i32"], result: "i32" },
  waitid: { parameters: ["i32", "u32", "buffer", "i32"], result: "i32" },
  kill: { parameters: ["i32", "i32"], result: "i32" },
  getuid: { parameters: [], result: "u32" },
  getpwuid_r: { parameters: ["u32", "buffer", "buffer", "usize", "buffer"], result: "i32" },
  posix_spawn: { parameters: ["buffer", "buffer", "buffer", "buffer", "buffer", "buffer"], result: "i32" },
  posix_spawnattr_init: { parameters: ["buffer"], result: "i32" },
  posix_spawnattr_setflags: { parameters: ["buffer", "i16"], result: "i32" },
  posix_spawnattr_setsigmask: { parameters: ["buffer", "buffer"], result: "i32" },
  posix_spawnattr_setsigdefault: { parameters: ["buffer", "buffer"], result: "i32" },
  posix_spawn_file_actions_init: { parameters: ["buffer"], result: "i32" },
  posix_spawn_file_actions_destroy: { parameters: ["buffer"], result: "i32" },
  posix_spawn_file_actions_addopen: { parameters: ["buffer", "i32", "buffer", "i32", "u32"], result: "i32" },
  posix_spawn_file_actions_adddup2: { parameters: ["buffer", "i32", "i32"], result: "i32" },
  /** glibc 2.29. */
  posix_spawn_file_actions_addchdir_np: { parameters: ["buffer", "buffer"], result: "i32", optional: true },
  /** glibc 2.34. */
  posix_spawn_file_actions_addclosefrom_np: { parameters: ["buffer", "i32"], result: "i32", optional: true },
} as const;

/** The functions as they are, for `posix_spawn.ts`, whose functions return error numbers instead of setting errno. */
export const symbols = Deno.dlopen("libc.so.6", SYMBOLS).symbols;

export type Bytes = Uint8Array<ArrayBuffer>;

const errnoLocation = symbols.__errno_location();
if (errnoLocation === null) throw new Error("the C library has no errno");
/** A thread keeps its errno in one place, and a module's functions are only ever called on its own thread. */
const errnoView = new Deno.UnsafePointerView(errnoLocation);

/** What a function returned, or the negated errno; to be called directly after it. */
export function orError(result: number): number {
  return result < 0 ? -errnoView.getInt32() : result;
}

/** The same for a 64-bit result. */
export function orErrorFromLong(result: bigint): number {
  return result < 0n ? -errnoView.getInt32() : Number(result);
}

/** Same for every file and descriptor function: the generic flags of Linux. */
export const O_RDONLY = 0;
export const O_WRONLY = 1;
export const O_RDWR = 2;
export const O_NOCTTY = 0o400;
export const O_NONBLOCK = 0o4000;
export const O_DIRECTORY = Deno.build.arch === "aarch64" ? 0o40000 : 0o200000;
export const O_CLOEXEC = 0o2000000;

/** The bytes of a typed array or view that C reads or fills. */
export function bytesOf(view: ArrayBufferView<ArrayBuffer>): Bytes {
  return new Uint8Array(view.buffer, view.byteOffset, view.byteLength);
}

/** Closes a descriptor. Linux frees the number whatever close() says, so there is nothing to report. */
export function close(fd: number): void {
  symbols.close(fd);
}

/** Reads at most `buffer.length` bytes; 0 is the end. */
export function read(fd: number, buffer: Bytes): number {
  return orErrorFromLong(symbols.read(fd, buffer, BigInt(buffer.length)));
}

export function write(fd: number, buffer: Bytes): number {
  return orErrorFromLong(symbols.write(fd, buffer, BigInt(buffer.length)));
}

export function pwrite(fd: number, buffer: Bytes, offset: number): number {
  return orErrorFromLong(symbols.pwrite(fd, buffer, BigInt(buffer.length), BigInt(offset)));
}

/** Both ends are closed on exec: `[read end, write end]`, or the negated error number. */
export function pipe(flags = O_CLOEXEC): readonly [number, number] | number {
  const ends = new Int32Array(2);
  const result = orError(symbols.pipe2(bytesOf(ends), flags));
  return result < 0 ? result : [ends[0]!, ends[1]!];
}

const F_GETFL = 3;
const F_SETFL = 4;
const F_SETFD = 2;
const F_SETPIPE_SZ = 1031;
const F_DUPFD_CLOEXEC = 1030;
const FD_CLOEXEC = 1;

/** Makes reads and writes of this open file return EAGAIN instead of waiting. */
export function setNonBlocking(fd: number): void {
  symbols.fcntl(fd, F_SETFL, symbols.fcntl(fd, F_GETFL, 0) | O_NONBLOCK);
}

/** Programs that are started from now on do not inherit this descriptor. */
export function setCloseOnExec(fd: number): void {
  symbols.fcntl(fd, F_SETFD, FD_CLOEXEC);
}

/** The same open file under another number, at least `minimum`, which no program started here inherits. */
export function duplicate(fd: number, minimum: number): number {
  return orError(symbols.fcntl(fd, F_DUPFD_CLOEXEC, minimum));
}

/** Gives a pipe room for so many bytes, if the kernel's limits allow; the result is the new size. */
export function setPipeSize(fd: number, bytes: number): number {
  return orError(symbols.fcntl(fd, F_SETPIPE_SZ, bytes));
}

const TIOCSWINSZ = 0x5414n;
const FIONREAD = 0x541Bn;

/** How many bytes a read would return at once; 0 when the descriptor cannot say. */
export function readableBytes(fd: number): number {
  const count = new Int32Array(1);
  return symbols.ioctl(fd, FIONREAD, bytesOf(count)) < 0 ? 0 : count[0]!;
}

export function setWindowSize(fd: number, rows: number, columns: number): number {
  return orError(symbols.ioctl(fd, TIOCSWINSZ, bytesOf(new Uint16Array([rows, columns, 0, 0]))));
}

const MFD_CLOEXEC = 1;

/** A file that lives in memory as long as somebody holds it. */
export function memoryFile(name: Bytes): number {
  return orError(symbols.memfd_create(name, MFD_CLOEXEC));
}

export const EPOLLIN = 0x001;
export const EPOLLPRI = 0x002;
export const EPOLLOUT = 0x004;
export const EPOLLERR = 0x008;
export const EPOLLHUP = 0x010;
export const EPOLL_CTL_ADD = 1;
export const EPOLL_CTL_DEL = 2;
export const EPOLL_CTL_MOD = 3;

/** `struct epoll_event`: 32 bits of events, 64 bits of anything; packed on x86-64 only. */
export const EPOLL_DATA_OFFSET = Deno.build.arch === "x86_64" ? 4 : 8;
export const EPOLL_EVENT_SIZE = EPOLL_DATA_OFFSET + 8;

export function epollCreate(): number {
  return orError(symbols.epoll_create1(O_CLOEXEC));
}

export function epollControl(epoll: number, operation: number, fd: number, event: Bytes | null): number {
  return orError(symbols.epoll_ctl(epoll, operation, fd, event));
}

/**
 * Waits on a thread of the runtime's pool until something happens. `events` must not be touched until then.
 *
 * @returns The number of events, or -1: errno of another thread cannot be read. It can only be EINTR as long as the
 * descriptor is an epoll.
 */
export function epollWait(epoll: number, events: Bytes): Promise<number> {
  return symbols.epoll_wait(epoll, events, Math.floor(events.length / EPOLL_EVENT_SIZE), -1);
}

/** A counter that a waiting epoll can be woken with. */
export function eventDescriptor(): number {
  return orError(symbols.eventfd(0, O_CLOEXEC | O_NONBLOCK));
}

export const F_OK = 0;
export const X_OK = 1;

/** Asks whether the user that runs us may use the file; 0 or a negated error number. `path` ends with a NUL. */
export function access(path: Bytes, mode: number): number {
  return orError(symbols.access(path, mode));
}

export function open(path: Bytes, flags: number): number {
  return orError(symbols.open(path, flags, 0));
}

export function changeDirectory(path: Bytes): number {
  return orError(symbols.chdir(path));
}

export function changeDirectoryTo(fd: number): number {
  return orError(symbols.fchdir(fd));
}

/** The master side of a new terminal, not yet unlocked. */
export function openTerminalMaster(flags: number): number {
  return orError(symbols.posix_openpt(flags));
}

export function grantTerminal(master: number): number {
  return orError(symbols.grantpt(master));
}

export function unlockTerminal(master: number): number {
  return orError(symbols.unlockpt(master));
}

/** The path of the slave side, ending with a NUL, or the negated error number. */
export function terminalPath(master: number): Bytes | number {
  const path = new Uint8Array(new ArrayBuffer(64));
  const error = symbols.ptsname_r(master, path, BigInt(path.length));
  return error === 0 ? path : -error;
}

/** The same numbers on all machines since Linux 5.1. */
const SYS_PIDFD_SEND_SIGNAL = 424n;
const SYS_PIDFD_OPEN = 434n;

/** A descriptor that becomes readable when the process has ended. Linux 5.3. */
export function openProcessDescriptor(pid: number): number {
  return orErrorFromLong(symbols.syscall(SYS_PIDFD_OPEN, BigInt(pid), 0n, 0n, 0n));
}

const SIGKILL = 9n;

/** Ends the process behind a descriptor, whatever has become of its number; -ESRCH if it has ended. */
export function killProcess(pidfd: number): number {
  return orErrorFromLong(symbols.syscall(SYS_PIDFD_SEND_SIGNAL, BigInt(pidfd), SIGKILL, 0n, 0n));
}

const PIDFD_SIGNAL_PROCESS_GROUP = 4n;

/**
 * Asks whether the group that the process behind `pidfd` founded still has a member; no number is involved that could
 * have been given to somebody else meanwhile. 0, -ESRCH for an empty group, -EINVAL before Linux 6.9.
 */
export function probeProcessGroup(pidfd: number): number {
  return orErrorFromLong(symbols.syscall(SYS_PIDFD_SEND_SIGNAL, BigInt(pidfd), 0n, 0n, PIDFD_SIGNAL_PROCESS_GROUP));
}

/**
 * Asks whether there is a process of this id (zombies count), or for a negative one a group: 0, -EPERM when there is one
 * that we may not signal, or -ESRCH. It sends nothing; what sends to numbers is `lib/process/signal_group.ts`.
 */
export function probeProcess(pidOrNegatedGroup: number): number {
  return orError(symbols.kill(pidOrNegatedGroup, 0));
}

const WNOHANG = 1;
const WEXITED = 4;
const WNOWAIT = 0x01000000;
const P_ALL = 0;

const waitStatus = new Int32Array(1);

/** Takes the exit status of one child that has ended: its wait status, null while it runs, or a negated error. */
export function reap(pid: number): { status: number } | null | number {
  const result = orError(symbols.waitpid(pid, bytesOf(waitStatus), WNOHANG));
  if (result === pid) return { status: waitStatus[0]! };
  return result === 0 ? null : result;
}

/** `siginfo_t` is 128 bytes; for SIGCHLD the process id stands at byte 16 on 64-bit machines. */
const SIGINFO_SIZE = 128;
const SIGINFO_PID_OFFSET = 16;

/** The id of some child that has ended and whose status nobody has taken, without taking it; 0 if there is none. */
export function peekEndedChild(): number {
  const info = new Int32Array(SIGINFO_SIZE / 4);
  const result = orError(symbols.waitid(P_ALL, 0, bytesOf(info), WEXITED | WNOHANG | WNOWAIT));
  return result < 0 ? result : info[SIGINFO_PID_OFFSET / 4]!;
}
