/**
 * What mount points ask of the system, one call each, so that tests can stand between any two of them. Results are the
 * kernel's: a number, or a negated error number.
 */

import { cString } from "../linux/cstring.ts";
import * as files from "../linux/file_calls.ts";
import { type Bytes, close, O_CLOEXEC, read, write } from "../linux/libc.ts";
import { toBytes } from "./byte_path.ts";

export interface MountPointCalls {
  /** A name below the directory `at`, or an absolute path; it is closed on exec, and no link is followed at its end. */
  open(at: number, path: string, flags: number, mode: number): number;
  close(fd: number): void;
  read(fd: number, buffer: Bytes): number;
  write(fd: number, bytes: Bytes): number;
  /** {@linkcode files.tryLock}. */
  tryLock(fd: number, kind: number): number;
  /** Of a name below `at`, where a link is itself; of `at` for an empty name. */
  status(at: number, name: string, status: files.FileStatus): number;
  makeDirectory(at: number, name: string, mode: number): number;
  /** Within one directory; {@linkcode files.renameToNew}. */
  rename(at: number, from: string, to: string): number;
  removeFile(at: number, name: string): number;
  /** Of an empty directory. */
  removeDirectory(at: number, name: string): number;
  /** The names in a directory. @throws What the runtime throws. */
  list(path: string): string[];
}

export const machineCalls: MountPointCalls = {
  open: (at, path, flags, mode) => files.openAt(at, c(path), flags | files.O_NOFOLLOW | O_CLOEXEC, mode),
  close,
  read,
  write,
  tryLock: files.tryLock,
  status: (at, name, status) =>
    files.statusAt(at, c(name), files.AT_SYMLINK_NOFOLLOW | (name === "" ? files.AT_EMPTY_PATH : 0), status),
  makeDirectory: (at, name, mode) => files.makeDirectoryAt(at, c(name), mode),
  rename: (at, from, to) => files.renameToNew(at, c(from), at, c(to)),
  removeFile: (at, name) => files.unlinkAt(at, c(name), 0),
  removeDirectory: (at, name) => files.unlinkAt(at, c(name), files.AT_REMOVEDIR),
  list: (path) => Deno.readDirSync(path).map(({ name }) => name).toArray(),
};

function c(path: string): Bytes {
  return cString(toBytes(path));
}
