/**
 * The system calls that build a sandbox around the calling thread and start a program in its place: a number, or the
 * negated error number. Paths end with a NUL.
 */

import {
  addressOf,
  AT_EMPTY_PATH,
  AT_FDCWD,
  type Bytes,
  bytesOf,
  cBytes,
  EMPTY,
  NUMBERS,
  O_CLOEXEC,
  systemCall,
} from "./system_call.ts";

export * from "./mount_calls.ts";
export * from "./privilege_calls.ts";
export { AT_FDCWD, type Bytes, cBytes, close, rawBytes } from "./system_call.ts";

const CLOSE_RANGE = 436;
const OPENAT2 = 437;

// Files.

export const O_WRONLY = 1;
export const O_CREAT = 0o100;
export const O_EXCL = 0o200;
export const O_DIRECTORY = Deno.build.arch === "aarch64" ? 0o40000 : 0o200000;
export const O_PATH = 0o10000000;
const RESOLVE_NO_MAGICLINKS = 0x02n;
const RESOLVE_NO_SYMLINKS = 0x04n;

/** Opens a path that no symbolic link may be part of: -ELOOP where one is. Linux 5.6. */
export function openWithoutLinks(at: number, path: Bytes, flags: number, mode = 0): number {
  const how = new BigUint64Array([
    BigInt(flags | O_CLOEXEC),
    BigInt(mode),
    RESOLVE_NO_SYMLINKS | RESOLVE_NO_MAGICLINKS,
  ]);
  return systemCall(OPENAT2, at, path, bytesOf(how), how.byteLength);
}

/** Reads where the file begins plus `offset`; 0 is the end. */
export function pread(fd: number, buffer: Bytes, offset: number): number {
  return systemCall(NUMBERS.pread64, fd, buffer, buffer.length, offset);
}

export function write(fd: number, buffer: Bytes): number {
  return systemCall(NUMBERS.write, fd, buffer, buffer.length);
}

export function makeDirectory(at: number, path: Bytes, mode: number): number {
  return systemCall(NUMBERS.mkdirat, at, path, mode);
}

export function makeSymlink(target: Bytes, at: number, path: Bytes): number {
  return systemCall(NUMBERS.symlinkat, target, at, path);
}

/** The target's bytes are put into `buffer`, without a NUL; their number, which is cut to the buffer's length. */
export function readLink(path: Bytes, buffer: Bytes): number {
  return systemCall(NUMBERS.readlinkat, AT_FDCWD, path, buffer, buffer.length);
}

const STATX_INO = 0x100;
const STATX_BYTES = 256;

/** What no other open file has: the device and the number of the file on it; or a negated error number. */
export function identity(fd: number): string | number {
  const status = new DataView(new ArrayBuffer(STATX_BYTES));
  const result = systemCall(NUMBERS.statx, fd, EMPTY, AT_EMPTY_PATH, STATX_INO, bytesOf(status));
  if (result < 0) return result;
  return `${status.getBigUint64(136, true)}:${status.getBigUint64(32, true)}`;
}

export function changeDirectory(path: Bytes): number {
  return systemCall(NUMBERS.chdir, path);
}

export function changeDirectoryTo(fd: number): number {
  return systemCall(NUMBERS.fchdir, fd);
}

/** What is taken away from the mode of every new file; the mask until now. */
export function setFileModeMask(mask: number): number {
  return systemCall(NUMBERS.umask, mask);
}

/** Makes `target` the same as `fd`, open in the next program as well. They must not be the same number. */
export function duplicate(fd: number, target: number): number {
  return systemCall(NUMBERS.dup3, fd, target, 0);
}

const CLOSE_RANGE_CLOEXEC = 4;

/** What is open from this number on does not reach the program that comes in our place. Linux 5.11. */
export function closeOnExecFrom(fd: number): number {
  return systemCall(CLOSE_RANGE, fd, 0xffffffff, CLOSE_RANGE_CLOEXEC);
}

const MFD_CLOEXEC = 1;
const MFD_ALLOW_SEALING = 2;
const F_ADD_SEALS = 1033;
const F_GET_SEALS = 1034;
const F_SEAL_SEAL = 1;
const F_SEAL_SHRINK = 2;
const F_SEAL_GROW = 4;
const F_SEAL_WRITE = 8;
/** Nothing about the file can change any more. */
export const ALL_SEALS = F_SEAL_SEAL | F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_WRITE;

/** A file in memory that can be sealed. */
export function sealableFile(name: Bytes): number {
  return systemCall(NUMBERS.memfd_create, name, MFD_CLOEXEC | MFD_ALLOW_SEALING);
}

export function seal(fd: number): number {
  return systemCall(NUMBERS.fcntl, fd, F_ADD_SEALS, ALL_SEALS);
}

/** -EINVAL for what is no file in memory. */
export function sealsOf(fd: number): number {
  return systemCall(NUMBERS.fcntl, fd, F_GET_SEALS);
}

// The program.

const SIGNAL_SET_BYTES = 8;
const SIG_SETMASK = 2;

/** The action for a signal is the system's again: what is ignored stays so in the next program. */
export function useDefaultAction(signal: number): number {
  // `struct sigaction` of the kernel: handler, flags, restorer (not on arm64), mask.
  return systemCall(NUMBERS.rt_sigaction, signal, new Uint8Array(new ArrayBuffer(32)), 0, SIGNAL_SET_BYTES);
}

export function unblockAllSignals(): number {
  return systemCall(
    NUMBERS.rt_sigprocmask,
    SIG_SETMASK,
    new Uint8Array(new ArrayBuffer(SIGNAL_SET_BYTES)),
    0,
    SIGNAL_SET_BYTES,
  );
}

/** Becomes the leader of a session of its own, which no terminal controls; -EPERM for the leader of a group. */
export function beginSession(): number {
  return systemCall(NUMBERS.setsid);
}

/** A `char *[]`, ended by a null pointer, with the strings that it points to behind it: one buffer, which lives as one. */
export interface Strings {
  readonly block: Bytes;
}

const POINTER_BYTES = 8;

/** @param texts Each code unit is a byte. */
export function cStrings(texts: readonly string[]): Strings {
  const tableBytes = (texts.length + 1) * POINTER_BYTES;
  const strings = cBytes(texts.map((text) => `${text}\0`).join(""));
  const block = new Uint8Array(new ArrayBuffer(tableBytes + strings.length));
  block.set(strings, tableBytes);
  const table = new BigUint64Array(block.buffer, 0, texts.length);
  let address = addressOf(block) + BigInt(tableBytes);
  texts.forEach((text, index) => {
    table[index] = address;
    address += BigInt(text.length + 1);
  });
  return { block };
}

/** Runs a program in place of this one; returns only with a failure, a negated error number. */
export function execute(path: Bytes, argv: Strings, env: Strings): number {
  return systemCall(NUMBERS.execve, path, argv.block, env.block);
}

/** Ends the process with all its threads at once, and without anything that would have to be read. */
export function endProcess(code: number): never {
  systemCall(NUMBERS.exit_group, code);
  throw new Error("the process did not end");
}
