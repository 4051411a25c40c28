/**
 * Any system call, by the one function of the C library that makes them all: each function that is opened costs a third
 * of a millisecond, and a launch is to be quick. Results are the kernel's: a number, or the negated error number.
 *
 * Buffers must be of their own `ArrayBuffer`.
 */

export type Bytes = Uint8Array<ArrayBuffer>;
/** What a call is given; of a buffer its address. */
export type Argument = number | bigint | Bytes;

const { symbols } = Deno.dlopen(
  "libc.so.6",
  {
    syscall: { parameters: ["i64", "i64", "i64", "i64", "i64", "i64", "i64"], result: "i64" },
    __errno_location: { parameters: [], result: "pointer" },
  } as const,
);

const errnoLocation = symbols.__errno_location();
if (errnoLocation === null) throw new Error("the C library has no errno");
const errno = new Deno.UnsafePointerView(errnoLocation);

/** Numbers of calls. Linux gives those that are newer than 2019 one number on all machines. */
export const NUMBERS = Deno.build.arch === "aarch64"
  ? {
    capget: 90,
    capset: 91,
    chdir: 49,
    close: 57,
    dup3: 24,
    execve: 221,
    exit_group: 94,
    fchdir: 50,
    fcntl: 25,
    memfd_create: 279,
    mkdirat: 34,
    pivot_root: 41,
    prctl: 167,
    pread64: 67,
    readlinkat: 78,
    rt_sigaction: 134,
    rt_sigprocmask: 135,
    setsid: 157,
    statx: 291,
    symlinkat: 36,
    umask: 166,
    umount2: 39,
    write: 64,
  }
  : {
    capget: 125,
    capset: 126,
    chdir: 80,
    close: 3,
    dup3: 292,
    execve: 59,
    exit_group: 231,
    fchdir: 81,
    fcntl: 72,
    memfd_create: 319,
    mkdirat: 258,
    pivot_root: 155,
    prctl: 157,
    pread64: 17,
    readlinkat: 267,
    rt_sigaction: 13,
    rt_sigprocmask: 14,
    setsid: 112,
    statx: 332,
    symlinkat: 266,
    umask: 95,
    umount2: 166,
    write: 1,
  };

/** Keeps buffers from being collected while the kernel has only their address. */
const pinned: { now: readonly Argument[] } = { now: [] };

export function systemCall(number: number, ...args: readonly Argument[]): number {
  pinned.now = args;
  const [a = 0n, b = 0n, c = 0n, d = 0n, e = 0n, f = 0n] = args.map((value) =>
    value instanceof Uint8Array ? addressOf(value) : BigInt(value)
  );
  const result = symbols.syscall(BigInt(number), a, b, c, d, e, f);
  const outcome = result < 0n ? -errno.getInt32() : Number(result);
  pinned.now = [];
  return outcome;
}

export function addressOf(bytes: Bytes): bigint {
  return Deno.UnsafePointer.value(Deno.UnsafePointer.of(bytes));
}

export function bytesOf(view: ArrayBufferView<ArrayBuffer>): Bytes {
  return new Uint8Array(view.buffer, view.byteOffset, view.byteLength);
}

/**
 * Each code unit as one byte, in a buffer whose address is good for C: short arrays that are made without one lie where
 * the collector moves things.
 */
export function rawBytes(text: string): Bytes {
  const bytes = new Uint8Array(new ArrayBuffer(text.length));
  for (let at = 0; at < text.length; at++) bytes[at] = text.charCodeAt(at);
  return bytes;
}

/** The same with a NUL at the end. There must be none inside: C would stop there. */
export function cBytes(text: string): Bytes {
  return rawBytes(`${text}\0`);
}

export const EMPTY = cBytes("");

export const AT_FDCWD = -100;
export const AT_EMPTY_PATH = 0x1000;
export const AT_RECURSIVE = 0x8000;

export function close(fd: number): void {
  systemCall(NUMBERS.close, fd);
}

export const O_CLOEXEC = 0o2000000;
