/**
 * File calls of libc on names that need not be UTF-8, for fixtures and comparisons. On its own feet: it must not share
 * a mistake with the code under test. Linux only.
 */

/** A path as one character per byte, so that it can be split, compared and looked up like any string. */
export type BytePath = string;

const AT_FDCWD = -100, AT_SYMLINK_NOFOLLOW = 0x100;
const STATX_BASIC_AND_BTIME = 0xfff;
const O_RDONLY = 0, O_WRONLY = 1, O_CREAT = 0o100, O_NOFOLLOW = 0o400000, O_DIRECTORY = 0o200000, O_NONBLOCK = 0o4000;
const AF_UNIX = 1, SOCK_STREAM = 1;
/** The room for a name in a socket's address, with its NUL. */
const SUN_PATH_BYTES = 108;

const SYMBOLS = {
  __errno_location: { parameters: [], result: "pointer" },
  statx: { parameters: ["i32", "buffer", "i32", "u32", "buffer"], result: "i32" },
  readlink: { parameters: ["buffer", "buffer", "usize"], result: "isize" },
  open: { parameters: ["buffer", "i32", "u32"], result: "i32" },
  close: { parameters: ["i32"], result: "i32" },
  read: { parameters: ["i32", "buffer", "usize"], result: "isize" },
  write: { parameters: ["i32", "buffer", "usize"], result: "isize" },
  lseek: { parameters: ["i32", "i64", "i32"], result: "i64" },
  truncate: { parameters: ["buffer", "i64"], result: "i32" },
  getdents64: { parameters: ["i32", "buffer", "usize"], result: "isize" },
  mkdir: { parameters: ["buffer", "u32"], result: "i32" },
  mkfifo: { parameters: ["buffer", "u32"], result: "i32" },
  symlink: { parameters: ["buffer", "buffer"], result: "i32" },
  link: { parameters: ["buffer", "buffer"], result: "i32" },
  rename: { parameters: ["buffer", "buffer"], result: "i32" },
  unlink: { parameters: ["buffer"], result: "i32" },
  rmdir: { parameters: ["buffer"], result: "i32" },
  chmod: { parameters: ["buffer", "u32"], result: "i32" },
  utimensat: { parameters: ["i32", "buffer", "buffer", "i32"], result: "i32" },
  socket: { parameters: ["i32", "i32", "i32"], result: "i32" },
  bind: { parameters: ["i32", "buffer", "u32"], result: "i32" },
} as const;

const library = Deno.build.os === "linux" ? Deno.dlopen("libc.so.6", SYMBOLS) : null;

function libc(): Deno.DynamicLibrary<typeof SYMBOLS>["symbols"] {
  if (library === null) throw new Error(`not on ${Deno.build.os}`);
  return library.symbols;
}

/** A call of libc failed. */
export class PosixError extends Error {
  override readonly name = "PosixError";
  constructor(call: string, path: BytePath, readonly errno: number) {
    super(`${call} of ${JSON.stringify(path)} failed with errno ${errno}`);
  }
}

export const EACCES = 13;
/** ENOENT, ENOTDIR, ENAMETOOLONG, ELOOP: no file has such a path. */
const NOTHING_THERE = [2, 20, 36, 40];

function checked(call: string, path: BytePath, result: number | bigint): number {
  if (Number(result) >= 0) return Number(result);
  throw new PosixError(call, path, new Deno.UnsafePointerView(libc().__errno_location()!).getInt32());
}

/** The bytes of a text, one character each, with a NUL behind them. */
function cString(path: BytePath): Uint8Array<ArrayBuffer> {
  const bytes = new Uint8Array(path.length + 1);
  for (let i = 0; i < path.length; i++) bytes[i] = path.charCodeAt(i);
  return bytes;
}

/** Text as the bytes of its UTF-8. */
export function bytePath(text: string): BytePath {
  return fromBytes(new TextEncoder().encode(text));
}

/** The bytes of a text that has one character each for them. */
export function toBytes(path: BytePath): Uint8Array<ArrayBuffer> {
  return cString(path).subarray(0, path.length);
}

/** Bytes as one character each. */
export function fromBytes(bytes: Uint8Array): BytePath {
  let text = "";
  for (const byte of bytes) text += String.fromCharCode(byte);
  return text;
}

export type Kind = "file" | "directory" | "link" | "fifo" | "socket" | "device";

export interface Status {
  readonly kind: Kind;
  /** Permission bits with set-id and sticky. */
  readonly mode: number;
  readonly size: number;
  readonly linkCount: number;
  /** Device and inode: the identity of a file. */
  readonly identity: string;
  readonly modifiedMs: number;
}

const KINDS: Readonly<Record<number, Kind>> = {
  0o100000: "file",
  0o040000: "directory",
  0o120000: "link",
  0o010000: "fifo",
  0o140000: "socket",
};

/** What is there, a link not followed, or null where nothing is. @throws {PosixError} If that cannot be told. */
export function lstat(path: BytePath): Status | null {
  const buffer = new Uint8Array(256);
  try {
    checked(
      "lstat",
      path,
      libc().statx(AT_FDCWD, cString(path), AT_SYMLINK_NOFOLLOW, STATX_BASIC_AND_BTIME, buffer),
    );
  } catch (error) {
    if (error instanceof PosixError && NOTHING_THERE.includes(error.errno)) return null;
    throw error;
  }
  const view = new DataView(buffer.buffer);
  const mode = view.getUint16(28, true);
  return {
    kind: KINDS[mode & 0o170000] ?? "device",
    mode: mode & 0o7777,
    size: Number(view.getBigUint64(40, true)),
    linkCount: view.getUint32(16, true),
    identity: `${view.getUint32(136, true)}:${view.getUint32(140, true)}:${view.getBigUint64(32, true)}`,
    modifiedMs: Number(view.getBigInt64(112, true)) * 1000 + view.getUint32(120, true) / 1e6,
  };
}

export function readlink(path: BytePath): BytePath {
  const buffer = new Uint8Array(4096);
  const length = checked("readlink", path, libc().readlink(cString(path), buffer, BigInt(buffer.length)));
  return fromBytes(buffer.subarray(0, length));
}

/** The names in a directory, sorted, without `.` and `..`. */
export function list(path: BytePath): BytePath[] {
  const descriptor = checked("open", path, libc().open(cString(path), O_RDONLY | O_DIRECTORY | O_NOFOLLOW, 0));
  const names: BytePath[] = [];
  const buffer = new Uint8Array(65_536);
  const view = new DataView(buffer.buffer);
  try {
    while (true) {
      const length = checked("getdents64", path, libc().getdents64(descriptor, buffer, BigInt(buffer.length)));
      if (length === 0) return names.sort();
      for (let at = 0; at < length;) {
        const end = at + view.getUint16(at + 16, true);
        const name = fromBytes(buffer.subarray(at + 19, buffer.indexOf(0, at + 19)));
        if (name !== "." && name !== "..") names.push(name);
        at = end;
      }
    }
  } finally {
    libc().close(descriptor);
  }
}

/** The first `limit` bytes of a regular file. */
export function read(path: BytePath, limit: number): Uint8Array<ArrayBuffer> {
  const flags = O_RDONLY | O_NOFOLLOW | O_NONBLOCK;
  const descriptor = checked("open", path, libc().open(cString(path), flags, 0));
  try {
    const bytes = new Uint8Array(limit);
    let length = 0;
    while (length < limit) {
      const rest = bytes.subarray(length);
      const count = checked("read", path, libc().read(descriptor, rest, BigInt(rest.length)));
      if (count === 0) break;
      length += count;
    }
    return bytes.slice(0, length);
  } finally {
    libc().close(descriptor);
  }
}

/** Writes into a file at an offset; makes the file if there is none. Links are not followed, fifos not waited for. */
export function write(path: BytePath, bytes: Uint8Array<ArrayBuffer>, offset = 0): void {
  const flags = O_WRONLY | O_CREAT | O_NOFOLLOW | O_NONBLOCK;
  const descriptor = checked("open", path, libc().open(cString(path), flags, 0o666));
  try {
    checked("lseek", path, libc().lseek(descriptor, BigInt(offset), 0));
    for (let at = 0; at < bytes.length;) {
      const rest = bytes.subarray(at);
      at += checked("write", path, libc().write(descriptor, rest, BigInt(rest.length)));
    }
  } finally {
    libc().close(descriptor);
  }
}

export function truncate(path: BytePath, size: number): void {
  checked("truncate", path, libc().truncate(cString(path), BigInt(size)));
}

export function mkdir(path: BytePath): void {
  checked("mkdir", path, libc().mkdir(cString(path), 0o777));
}

export function mkfifo(path: BytePath): void {
  checked("mkfifo", path, libc().mkfifo(cString(path), 0o666));
}

export function symlink(target: BytePath, path: BytePath): void {
  checked("symlink", path, libc().symlink(cString(target), cString(path)));
}

/** Another name for a file; a link is linked itself. */
export function link(existing: BytePath, path: BytePath): void {
  checked("link", path, libc().link(cString(existing), cString(path)));
}

export function rename(from: BytePath, to: BytePath): void {
  checked("rename", from, libc().rename(cString(from), cString(to)));
}

export function unlink(path: BytePath): void {
  checked("unlink", path, libc().unlink(cString(path)));
}

export function rmdir(path: BytePath): void {
  checked("rmdir", path, libc().rmdir(cString(path)));
}

/** Follows links: call it on none. */
export function chmod(path: BytePath, mode: number): void {
  checked("chmod", path, libc().chmod(cString(path), mode));
}

/** Sets both times of what is there, also of a link. */
export function setTime(path: BytePath, seconds: number, nanoseconds: number): void {
  const times = new BigInt64Array([seconds, nanoseconds, seconds, nanoseconds].map(BigInt));
  checked(
    "utimensat",
    path,
    libc().utimensat(AT_FDCWD, cString(path), new Uint8Array(times.buffer), AT_SYMLINK_NOFOLLOW),
  );
}

/** Leaves a socket at a path that nobody listens on. @returns False if the path is too long for one. */
export function bindSocket(path: BytePath): boolean {
  if (path.length >= SUN_PATH_BYTES) return false;
  const address = new Uint8Array(2 + path.length + 1);
  address.set([AF_UNIX, 0]);
  address.set(cString(path), 2);
  const descriptor = checked("socket", path, libc().socket(AF_UNIX, SOCK_STREAM, 0));
  try {
    checked("bind", path, libc().bind(descriptor, address, address.length));
  } finally {
    libc().close(descriptor);
  }
  return true;
}

/** Directories whose path is longer are taken out before they are removed: what is in them may have no path at all. */
const SURELY_SHORT_BYTES = 3_500;

/**
 * Removes a tree whatever its modes are, however deep it is; links are removed, not followed. Harmless if nothing is
 * there.
 */
export function removeTree(path: BytePath, top: BytePath = path): void {
  const status = lstat(path);
  if (status === null) return;
  if (status.kind !== "directory") return unlink(path);
  if (path.length > SURELY_SHORT_BYTES) {
    let shorter = `${top}/out`;
    while (lstat(shorter) !== null) shorter += "+";
    rename(path, shorter);
    return removeTree(shorter, top);
  }
  if ((status.mode & 0o700) !== 0o700) chmod(path, 0o700);
  for (const name of list(path)) removeTree(`${path}/${name}`, top);
  rmdir(path);
}
