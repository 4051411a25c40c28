/**
 * What the C library offers for files and directories, in the manner of `libc.ts`: the result, or the negated error
 * number. Importing this opens the library once more (about 0.3 ms a function), so it is loaded with the first request
 * for a file.
 *
 * Paths end with a NUL. A path is looked up below the directory `at`, a descriptor, unless it begins with a slash;
 * {@linkcode AT_FDCWD} stands for the working directory.
 */

import { inBackground, isStaying } from "./background.ts";
import { type Bytes, bytesOf, close, orError, orErrorFromLong, read, write } from "./libc.ts";

const SYMBOLS = {
  openat: { parameters: ["i32", "buffer", "i32", "u32"], result: "i32" },
  openatInBackground: {
    name: "openat",
    parameters: ["i32", "buffer", "i32", "u32"],
    result: "i32",
    nonblocking: true,
  },
  /** glibc 2.28. */
  statx: { parameters: ["i32", "buffer", "i32", "u32", "buffer"], result: "i32", optional: true },
  readInBackground: { name: "read", parameters: ["i32", "buffer", "usize"], result: "isize", nonblocking: true },
  writeInBackground: { name: "write", parameters: ["i32", "buffer", "usize"], result: "isize", nonblocking: true },
  /** glibc 2.26. */
  preadv2: { parameters: ["i32", "buffer", "i32", "i64", "i32"], result: "isize" },
  pread: { parameters: ["i32", "buffer", "usize", "i64"], result: "isize" },
  preadInBackground: {
    name: "pread",
    parameters: ["i32", "buffer", "usize", "i64"],
    result: "isize",
    nonblocking: true,
  },
  pwrite: { parameters: ["i32", "buffer", "usize", "i64"], result: "isize" },
  pwriteInBackground: {
    name: "pwrite",
    parameters: ["i32", "buffer", "usize", "i64"],
    result: "isize",
    nonblocking: true,
  },
  ftruncate: { parameters: ["i32", "i64"], result: "i32" },
  closeInBackground: { name: "close", parameters: ["i32"], result: "i32", nonblocking: true },
  truncateInBackground: { name: "ftruncate", parameters: ["i32", "i64"], result: "i32", nonblocking: true },
  fchmod: { parameters: ["i32", "u32"], result: "i32" },
  /** glibc 2.27. */
  copyFileRangeInBackground: {
    name: "copy_file_range",
    parameters: ["i32", "buffer", "i32", "buffer", "usize", "u32"],
    result: "isize",
    nonblocking: true,
  },
  copy_file_range: { parameters: ["i32", "buffer", "i32", "buffer", "usize", "u32"], result: "isize" },
  /** glibc 2.30. */
  getdents64: { parameters: ["i32", "buffer", "usize"], result: "isize", optional: true },
  mkdirat: { parameters: ["i32", "buffer", "u32"], result: "i32" },
  mkdiratInBackground: { name: "mkdirat", parameters: ["i32", "buffer", "u32"], result: "i32", nonblocking: true },
  unlinkat: { parameters: ["i32", "buffer", "i32"], result: "i32" },
  unlinkatInBackground: { name: "unlinkat", parameters: ["i32", "buffer", "i32"], result: "i32", nonblocking: true },
  symlinkat: { parameters: ["buffer", "i32", "buffer"], result: "i32" },
  readlinkat: { parameters: ["i32", "buffer", "buffer", "usize"], result: "isize" },
  /** glibc 2.28. */
  renameat2: { parameters: ["i32", "buffer", "i32", "buffer", "u32"], result: "i32", optional: true },
  flock: { parameters: ["i32", "i32"], result: "i32" },
  /** `openat2` has no function of its own. */
  openat2: { name: "syscall", parameters: ["i64", "i32", "buffer", "buffer", "usize"], result: "i64" },
  realpath: { parameters: ["buffer", "buffer"], result: "pointer" },
  sched_yield: { parameters: [], result: "i32", nonblocking: true },
  statfs: { parameters: ["buffer", "buffer"], result: "i32" },
  inotify_init1: { parameters: ["i32"], result: "i32" },
  inotify_add_watch: { parameters: ["i32", "buffer", "u32"], result: "i32" },
  inotify_rm_watch: { parameters: ["i32", "i32"], result: "i32" },
} as const;

const { symbols } = Deno.dlopen("libc.so.6", SYMBOLS);

/** Calls that the C library is too old to have functions for, by their numbers. */
const NUMBERED = {
  statx: { name: "syscall", parameters: ["i64", "i32", "buffer", "i32", "u32", "buffer"], result: "i64" },
  getdents64: { name: "syscall", parameters: ["i64", "i32", "buffer", "usize"], result: "i64" },
  renameat2: { name: "syscall", parameters: ["i64", "i32", "buffer", "i32", "buffer", "u32"], result: "i64" },
} as const;
const [SYS_STATX, SYS_GETDENTS64, SYS_RENAMEAT2] = Deno.build.arch === "aarch64"
  ? [291n, 61n, 276n]
  : [332n, 217n, 316n];
/** Where the newest of them is missing. */
const numbered = symbols.getdents64 === null ? Deno.dlopen("libc.so.6", NUMBERED).symbols : null;

export const AT_FDCWD = -100;
export const AT_SYMLINK_NOFOLLOW = 0x100;
export const AT_REMOVEDIR = 0x200;
export const AT_EMPTY_PATH = 0x1000;

export const O_CREAT = 0o100;
export const O_EXCL = 0o200;
export const O_NOFOLLOW = Deno.build.arch === "aarch64" ? 0o100000 : 0o400000;
export const O_PATH = 0o10000000;

/**
 * @param there The call, on a thread of the pool.
 * @param here The same call on this one: to learn why it failed there, or because none is made there.
 */
async function elsewhere(there: () => Promise<number | bigint>, here: () => number): Promise<number> {
  if (isStaying()) return here();
  const result = await inBackground(there);
  return result < 0 ? here() : Number(result);
}

export function openAt(at: number, path: Bytes, flags: number, mode = 0): number {
  return orError(symbols.openat(at, path, flags, mode));
}

/** On a thread of the pool, for file systems that are slow in making files. As {@linkcode preadInBackground}. */
export function openAtInBackground(at: number, path: Bytes, flags: number, mode = 0): Promise<number> {
  return elsewhere(() => symbols.openatInBackground(at, path, flags, mode), () => openAt(at, path, flags, mode));
}

/** The same number on all machines. */
const SYS_OPENAT2 = 437n;
const RESOLVE_NO_MAGICLINKS = 0x02n;
const RESOLVE_BENEATH = 0x08n;

/**
 * Opens without ever leaving the directory `at`: a path, or a link on the way, that leads out of it or begins with a slash
 * gives -EXDEV. Linux 5.6; -ENOSYS before.
 */
export function openBeneath(at: number, path: Bytes, flags: number, mode = 0): number {
  const how = new BigUint64Array([
    BigInt(flags),
    (flags & O_CREAT) === 0 ? 0n : BigInt(mode),
    RESOLVE_BENEATH | RESOLVE_NO_MAGICLINKS,
  ]);
  return orErrorFromLong(symbols.openat2(SYS_OPENAT2, at, path, bytesOf(how), BigInt(how.byteLength)));
}

/** The kind of a file, within its mode. */
const S_IFMT = 0o170000;
export const S_IFREG = 0o100000;
export const S_IFDIR = 0o040000;
export const S_IFLNK = 0o120000;

const STATX_BASIC_STATS = 0x7ff;
const STATX_BTIME = 0x800;
const STATX_SIZE = 256;

/** What `statx` tells of a file. */
export class FileStatus {
  readonly #view: DataView;

  constructor(readonly bytes: Bytes = new Uint8Array(new ArrayBuffer(STATX_SIZE))) {
    this.#view = new DataView(bytes.buffer);
  }

  get owner(): number {
    return this.#view.getUint32(20, true);
  }

  get mode(): number {
    return this.#view.getUint16(28, true);
  }

  get kind(): number {
    return this.mode & S_IFMT;
  }

  get inode(): bigint {
    return this.#view.getBigUint64(32, true);
  }

  get size(): number {
    return Number(this.#view.getBigUint64(40, true));
  }

  /** Two files are the same one if this and {@linkcode inode} are equal. */
  get device(): bigint {
    return this.#view.getBigUint64(136, true);
  }

  /** When it came into being, in milliseconds since 1970, cut off; 0 where the file system does not know. */
  get createdMs(): number {
    return (this.#view.getUint32(0, true) & STATX_BTIME) === 0 ? 0 : this.#timeMs(80);
  }

  get modifiedMs(): number {
    return this.#timeMs(112);
  }

  #timeMs(offset: number): number {
    return Number(this.#view.getBigInt64(offset, true)) * 1000 +
      Math.floor(this.#view.getUint32(offset + 8, true) / 1_000_000);
  }
}

/** Fills `status`; 0 or a negated error number. An empty path with AT_EMPTY_PATH means `at` itself. */
export function statusAt(at: number, path: Bytes, flags: number, status: FileStatus): number {
  const mask = STATX_BASIC_STATS | STATX_BTIME;
  return symbols.statx === null
    ? orErrorFromLong(numbered!.statx(SYS_STATX, at, path, flags, mask, status.bytes))
    : orError(symbols.statx(at, path, flags, mask, status.bytes));
}

/**
 * Reads at most `buffer.length` bytes at `offset`; 0 is the end.
 *
 * @param offset Below 2^63.
 */
export function pread(fd: number, buffer: Bytes, offset: bigint): number {
  return orErrorFromLong(symbols.pread(fd, buffer, BigInt(buffer.length), offset));
}

/**
 * The same on a thread of the runtime's pool, for what may take the disk's time; `buffer` must not be touched until then.
 * A failure there has its number on that thread, so the call is made again here to learn it.
 */
export function preadInBackground(fd: number, buffer: Bytes, offset: bigint): Promise<number> {
  return elsewhere(
    () => symbols.preadInBackground(fd, buffer, BigInt(buffer.length), offset),
    () => pread(fd, buffer, offset),
  );
}

const RWF_NOWAIT = 8;
/** For {@linkcode preadNow}: where the file was read last. */
export const CURRENT_POSITION = -1n;

const vector = new BigUint64Array(2);
const vectorBytes = bytesOf(vector);

/**
 * Reads only what is in memory already: perhaps less than there is. -EAGAIN if the disk would have to be asked,
 * -EOPNOTSUPP where the file system does not know the difference (tmpfs, /proc, network file systems).
 *
 * @param offset Below 2^63, or {@linkcode CURRENT_POSITION}.
 */
export function preadNow(fd: number, buffer: Bytes, offset: bigint): number {
  vector[0] = Deno.UnsafePointer.value(Deno.UnsafePointer.of(buffer));
  vector[1] = BigInt(buffer.length);
  return orErrorFromLong(symbols.preadv2(fd, vectorBytes, 1, offset, RWF_NOWAIT));
}

/** Reads where the file was read last, on a thread of the pool; as {@linkcode preadInBackground}. */
export function readInBackground(fd: number, buffer: Bytes): Promise<number> {
  return elsewhere(() => symbols.readInBackground(fd, buffer, BigInt(buffer.length)), () => read(fd, buffer));
}

export function pwrite(fd: number, buffer: Bytes, offset: bigint): number {
  return orErrorFromLong(symbols.pwrite(fd, buffer, BigInt(buffer.length), offset));
}

/** As {@linkcode preadInBackground}. */
export function pwriteInBackground(fd: number, buffer: Bytes, offset: bigint): Promise<number> {
  return elsewhere(
    () => symbols.pwriteInBackground(fd, buffer, BigInt(buffer.length), offset),
    () => pwrite(fd, buffer, offset),
  );
}

/** Writes where the file was written last, on a thread of the pool; as {@linkcode preadInBackground}. */
export function writeInBackground(fd: number, buffer: Bytes): Promise<number> {
  return elsewhere(() => symbols.writeInBackground(fd, buffer, BigInt(buffer.length)), () => write(fd, buffer));
}

export function truncate(fd: number, size: number): number {
  return orError(symbols.ftruncate(fd, BigInt(size)));
}

/** On a thread of the pool: to give the space of a large file back takes a while. As {@linkcode preadInBackground}. */
export function truncateInBackground(fd: number, size: number): Promise<number> {
  return elsewhere(() => symbols.truncateInBackground(fd, BigInt(size)), () => truncate(fd, size));
}

/**
 * Closes a descriptor on a thread of the pool: with the last one of a file that was emptied and written, some file
 * systems begin to write it out.
 */
export async function closeInBackground(fd: number): Promise<void> {
  if (isStaying()) close(fd);
  else await inBackground(() => symbols.closeInBackground(fd));
}

export function changeMode(fd: number, mode: number): number {
  return orError(symbols.fchmod(fd, mode));
}

/** Copies at most `length` bytes from one file's position to another's, within the kernel; 0 is the end. */
export function copyFileRange(from: number, to: number, length: number): number {
  return orErrorFromLong(symbols.copy_file_range(from, null, to, null, BigInt(length), 0));
}

/** The same on a thread of the pool; as {@linkcode preadInBackground}. */
export function copyFileRangeInBackground(from: number, to: number, length: number): Promise<number> {
  return elsewhere(
    () => symbols.copyFileRangeInBackground(from, null, to, null, BigInt(length), 0),
    () => copyFileRange(from, to, length),
  );
}

/** Fills `buffer` with `struct linux_dirent64`s; the number of bytes, 0 at the end of the directory. */
export function readDirectoryEntries(fd: number, buffer: Bytes): number {
  const size = BigInt(buffer.length);
  return orErrorFromLong(
    symbols.getdents64?.(fd, buffer, size) ?? numbered!.getdents64(SYS_GETDENTS64, fd, buffer, size),
  );
}

export function makeDirectoryAt(at: number, path: Bytes, mode: number): number {
  return orError(symbols.mkdirat(at, path, mode));
}

/** As {@linkcode openAtInBackground}. */
export function makeDirectoryAtInBackground(at: number, path: Bytes, mode: number): Promise<number> {
  return elsewhere(() => symbols.mkdiratInBackground(at, path, mode), () => makeDirectoryAt(at, path, mode));
}

/** Removes a name; with AT_REMOVEDIR that of an empty directory. */
export function unlinkAt(at: number, path: Bytes, flags: number): number {
  return orError(symbols.unlinkat(at, path, flags));
}

/** As {@linkcode openAtInBackground}. */
export function unlinkAtInBackground(at: number, path: Bytes, flags: number): Promise<number> {
  return elsewhere(() => symbols.unlinkatInBackground(at, path, flags), () => unlinkAt(at, path, flags));
}

export function makeSymlinkAt(target: Bytes, at: number, path: Bytes): number {
  return orError(symbols.symlinkat(target, at, path));
}

const RENAME_NOREPLACE = 1;

/** Moves a name to another, where there must be none: else -EEXIST. -EINVAL if the file system cannot tell (NFS, 9p). */
export function renameToNew(fromAt: number, from: Bytes, toAt: number, to: Bytes): number {
  return symbols.renameat2 === null
    ? orErrorFromLong(numbered!.renameat2(SYS_RENAMEAT2, fromAt, from, toAt, to, RENAME_NOREPLACE))
    : orError(symbols.renameat2(fromAt, from, toAt, to, RENAME_NOREPLACE));
}

export const LOCK_SH = 1;
export const LOCK_EX = 2;
const LOCK_NB = 4;

/**
 * Locks an open file without waiting, until it is closed by all who hold it; -EAGAIN while others have it locked.
 *
 * @param kind LOCK_EX, or LOCK_SH, which others may have at the same time.
 */
export function tryLock(fd: number, kind: number): number {
  return orError(symbols.flock(fd, kind | LOCK_NB));
}

/** The target's bytes are put into `buffer`, without a NUL; their number, which is cut to the buffer's length. */
export function readLinkAt(at: number, path: Bytes, buffer: Bytes): number {
  return orErrorFromLong(symbols.readlinkat(at, path, buffer, BigInt(buffer.length)));
}

/** Longest path of one call in bytes, with its NUL. */
export const PATH_MAX = 4096;

/** The path without links, without a NUL, or the negated error number. */
export function realPath(path: Bytes): Bytes | number {
  const resolved = new Uint8Array(new ArrayBuffer(PATH_MAX));
  if (symbols.realpath(path, resolved) === null) return orError(-1);
  return resolved.slice(0, resolved.indexOf(0));
}

/** Resolves after the event loop has looked at its other business (about 25 µs when there is none). */
export async function otherBusiness(): Promise<void> {
  await symbols.sched_yield();
}

/** `struct statfs` is 120 bytes on 64-bit machines and begins with the type. */
const STATFS_SIZE = 120;

/** The magic number of the file system that the file is on, or a negated error number. */
export function fileSystemType(path: Bytes): number {
  const status = new Uint8Array(new ArrayBuffer(STATFS_SIZE));
  const result = orError(symbols.statfs(path, status));
  return result < 0 ? result : new DataView(status.buffer).getUint32(0, true);
}

export const IN_NONBLOCK = 0o4000;
export const IN_CLOEXEC = 0o2000000;

export function openInotify(): number {
  return orError(symbols.inotify_init1(IN_NONBLOCK | IN_CLOEXEC));
}

/** The number of the watch, or a negated error number. */
export function addInotifyWatch(inotify: number, path: Bytes, events: number): number {
  return orError(symbols.inotify_add_watch(inotify, path, events));
}

export function removeInotifyWatch(inotify: number, watch: number): number {
  return orError(symbols.inotify_rm_watch(inotify, watch));
}
