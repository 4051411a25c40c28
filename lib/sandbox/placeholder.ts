/**
 * An empty directory or file that stands on the host for a missing name while a sandbox covers it. It is made under a
 * name that nobody can know, and only gets its own when its identity has been written down: so whoever cleans up after
 * a server that was killed always knows what is his.
 */

import { EEXIST, EINVAL, EISDIR, ELOOP, ENOENT, ENOSYS, ENOTDIR } from "../linux/errno.ts";
import * as files from "../linux/file_calls.ts";
import { O_DIRECTORY } from "../linux/libc.ts";
import type { BytePath } from "./policy.ts";
import type { MountPointCalls } from "./mount_point_calls.ts";

export type MountPointKind = "directory" | "file";

/** A path that must be there while a sandbox runs. */
export interface MountPoint {
  /** No link leads there. */
  readonly path: BytePath;
  readonly kind: MountPointKind;
}

/** Which object it is, whatever it is called. Numbers are used again, so the time tells the next one apart. */
export interface Identity {
  readonly device: bigint;
  readonly inode: bigint;
  /** 0 where the file system does not know. */
  readonly createdMs: number;
}

/** What a real `.git` would have: if its owner makes one of ours real, it is as good as any. */
const DIRECTORY_MODE = 0o755;
/** Nobody writes to what will be taken away; only the superuser could. */
const FILE_MODE = 0o444;
const ANY_WRITE = 0o222;
const ENOTEMPTY = 39;

const STAGING = /^\.exec-server-[0-9a-f]{32}$/;

/** A name that nobody else has or can guess. */
export function stagingName(): string {
  return `.exec-server-${crypto.randomUUID().replaceAll("-", "")}`;
}

export function isStagingName(name: string): boolean {
  return STAGING.test(name);
}

export function isSame(one: Identity, other: Identity): boolean {
  return one.device === other.device && one.inode === other.inode && one.createdMs === other.createdMs;
}

/** The last name of a path. */
export function nameOf(path: BytePath): string {
  return path.slice(path.lastIndexOf("/") + 1);
}

/** Opens the directory that a path lies in, name by name and through no link: a descriptor, or a negated error number. */
export function openParent(calls: MountPointCalls, path: BytePath): number {
  const flags = files.O_PATH | O_DIRECTORY;
  let directory = calls.open(files.AT_FDCWD, "/", flags, 0);
  for (const name of path.split("/").slice(1, -1)) {
    if (directory < 0) break;
    const next = calls.open(directory, name, flags, 0);
    calls.close(directory);
    directory = next;
  }
  return directory;
}

/** Says whether a negated error number means that there is nothing at the path. */
export function isAbsence(result: number): boolean {
  return result === -ENOENT || result === -ENOTDIR || result === -ELOOP;
}

export interface Found extends Identity {
  /** Whatever is neither a directory nor a link counts as a file. */
  readonly kind: MountPointKind | "link";
}

/** What bears a name: a negated error number if nothing does. */
export function look(calls: MountPointCalls, parent: number, name: string): Found | number {
  const status = new files.FileStatus();
  const result = calls.status(parent, name, status);
  if (result < 0) return result;
  const { device, inode, createdMs } = status;
  const kind = status.kind === files.S_IFDIR ? "directory" : status.kind === files.S_IFLNK ? "link" : "file";
  return { device, inode, createdMs, kind };
}

/**
 * Makes a placeholder under a name where there must be nothing.
 *
 * @param staging Its first name, which has been written down.
 * @param identified Writes down what it is, before it gets its name.
 * @returns What it is; -EEXIST if there is something; or another negated error number. Then nothing of it is left, unless
 * it says that it cannot be removed.
 */
export function makePlaceholder(
  calls: MountPointCalls,
  { parent, name, kind, staging, identified }: {
    readonly parent: number;
    readonly name: string;
    readonly kind: MountPointKind;
    readonly staging: string;
    readonly identified: (identity: Identity) => void;
  },
): Identity | number {
  const identity = makeKnown(calls, { parent, name: staging, kind, identified });
  if (typeof identity === "number") return identity;
  const renamed = calls.rename(parent, staging, name);
  if (renamed === 0) {
    const arrived = look(calls, parent, name);
    // Somebody has exchanged it on its way, and it is his now.
    return typeof arrived === "number" ? arrived : isSame(arrived, identity) ? identity : -EEXIST;
  }
  const removed = removeEmpty(calls, parent, staging, kind);
  if (removed < 0) return removed;
  if (!isUnsupported(renamed)) return renamed;
  // This file system cannot move without replacing. So it is made in its place, and stays if we are killed just then.
  return makeKnown(calls, { parent, name, kind, identified });
}

/** Makes it and has it written down; if that is impossible it is gone again. */
function makeKnown(
  calls: MountPointCalls,
  { parent, name, kind, identified }: {
    readonly parent: number;
    readonly name: string;
    readonly kind: MountPointKind;
    readonly identified: (identity: Identity) => void;
  },
): Identity | number {
  const made = makeEmpty(calls, parent, name, kind);
  if (made < 0) return made;
  const identity = look(calls, parent, name);
  if (typeof identity === "number") return identity;
  try {
    identified(identity);
  } catch (error) {
    removeEmpty(calls, parent, name, kind);
    throw error;
  }
  return identity;
}

function makeEmpty(calls: MountPointCalls, parent: number, name: string, kind: MountPointKind): number {
  if (kind === "directory") return calls.makeDirectory(parent, name, DIRECTORY_MODE);
  const file = calls.open(parent, name, files.O_CREAT | files.O_EXCL, FILE_MODE);
  if (file >= 0) calls.close(file);
  return Math.min(file, 0);
}

/** A placeholder that has been made, or begun, and the directory that it is in. */
export interface MadePlaceholder {
  readonly parent: number;
  readonly name: string;
  readonly kind: MountPointKind;
  readonly staging: string;
  /** Undefined: it has only its first name, which is itself the proof. */
  readonly identity: Identity | undefined;
}

/**
 * Removes what is left under its first name. It may be somebody else's file: see {@linkcode removePlaceholder}; then that
 * gets its name back, unless there is another one by now.
 *
 * @returns As {@linkcode removePlaceholder}.
 */
export function removeStaged(
  calls: MountPointCalls,
  { parent, name, kind, staging, identity }: MadePlaceholder,
): number {
  const found = look(calls, parent, staging);
  if (typeof found === "number") return isAbsence(found) ? 0 : found;
  if (identity === undefined || isSame(found, identity)) return removeEmpty(calls, parent, staging, kind);
  const restored = calls.rename(parent, staging, name);
  return restored === -EEXIST ? 0 : restored;
}

/**
 * Removes what bears one of the names if it is the placeholder and still empty, and nothing else. A directory is only removed when
 * it is empty, by the kernel itself; but somebody's file may have taken the place since we looked. So a file is moved to its
 * first name, and looked at once more.
 *
 * @returns 0: it is not there any more, or is no longer a placeholder; or a negated error number: it may be, later.
 */
export function removePlaceholder(calls: MountPointCalls, placeholder: MadePlaceholder): number {
  const { parent, name, kind, staging, identity } = placeholder;
  const staged = removeStaged(calls, placeholder);
  if (staged < 0 || identity === undefined) return staged;
  const found = look(calls, parent, name);
  if (typeof found === "number") return isAbsence(found) ? 0 : found;
  if (!isSame(found, identity)) return 0;
  if (kind === "directory") return removeEmpty(calls, parent, name, kind);
  const moved = calls.rename(parent, name, staging);
  if (isUnsupported(moved)) return removeEmpty(calls, parent, name, kind);
  if (moved < 0) return isAbsence(moved) ? 0 : moved;
  const removed = removeStaged(calls, placeholder);
  if (removed < 0) return removed;
  // It has become real at the last moment.
  const restored = calls.rename(parent, staging, name);
  return isAbsence(restored) || restored === -EEXIST ? 0 : restored;
}

/** Whether a file system cannot move without replacing, or the kernel. */
function isUnsupported(result: number): boolean {
  return result === -EINVAL || result === -ENOSYS;
}

function removeEmpty(calls: MountPointCalls, parent: number, name: string, kind: MountPointKind): number {
  if (kind === "directory") {
    const removed = calls.removeDirectory(parent, name);
    return removed === -ENOTEMPTY || removed === -EEXIST || isAbsence(removed) ? 0 : removed;
  }
  const status = new files.FileStatus();
  const found = calls.status(parent, name, status);
  if (found < 0) return isAbsence(found) ? 0 : found;
  // Who may write to it, or has, means to keep it.
  if (status.kind !== files.S_IFREG || status.size > 0 || (status.mode & ANY_WRITE) !== 0) return 0;
  const removed = calls.removeFile(parent, name);
  return isAbsence(removed) || removed === -EISDIR ? 0 : removed;
}
