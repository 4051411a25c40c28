/** Mounts, by the calls that take descriptors: no path is looked up twice, and a mount has its attributes before anyone sees it. */

import {
  AT_EMPTY_PATH,
  AT_FDCWD,
  AT_RECURSIVE,
  type Bytes,
  bytesOf,
  cBytes,
  close,
  EMPTY,
  NUMBERS,
  O_CLOEXEC,
  systemCall,
} from "./system_call.ts";

const OPEN_TREE = 428;
const MOVE_MOUNT = 429;
const FSOPEN = 430;
const FSCONFIG = 431;
const FSMOUNT = 432;
const MOUNT_SETATTR = 442;

export const MOUNT_READ_ONLY = 0x1;
export const MOUNT_NO_SETUID = 0x2;
export const MOUNT_NO_DEVICES = 0x4;
export const MOUNT_NO_EXEC = 0x8;

const OPEN_TREE_CLONE = 1;
const OPEN_TREE_CLOEXEC = O_CLOEXEC;

/** A copy of the mounts at and below what `fd` is open on, which stands nowhere yet. Linux 5.2, as all of these. */
export function cloneTree(fd: number): number {
  return systemCall(OPEN_TREE, fd, EMPTY, OPEN_TREE_CLONE | OPEN_TREE_CLOEXEC | AT_EMPTY_PATH | AT_RECURSIVE);
}

const MOVE_MOUNT_F_EMPTY_PATH = 0x4;
const MOVE_MOUNT_T_EMPTY_PATH = 0x40;

/** Puts a mount that stands nowhere onto the file or directory that `at` is open on. */
export function attach(mount: number, at: number): number {
  return systemCall(MOVE_MOUNT, mount, EMPTY, at, EMPTY, MOVE_MOUNT_F_EMPTY_PATH | MOVE_MOUNT_T_EMPTY_PATH);
}

const FSOPEN_CLOEXEC = 1;
const FSMOUNT_CLOEXEC = 1;
const FSCONFIG_SET_STRING = 1;
const FSCONFIG_CMD_CREATE = 6;

/** A mount of a new file system, which stands nowhere yet. */
export function newMount(type: string, options: Readonly<Record<string, string>>, attributes: number): number {
  const context = systemCall(FSOPEN, cBytes(type), FSOPEN_CLOEXEC);
  if (context < 0) return context;
  try {
    for (const [name, value] of Object.entries(options)) {
      const set = systemCall(FSCONFIG, context, FSCONFIG_SET_STRING, cBytes(name), cBytes(value), 0);
      if (set < 0) return set;
    }
    const created = systemCall(FSCONFIG, context, FSCONFIG_CMD_CREATE, 0, 0, 0);
    return created < 0 ? created : systemCall(FSMOUNT, context, FSMOUNT_CLOEXEC, attributes);
  } finally {
    close(context);
  }
}

/** Sets attributes of the mount whose root `fd` is open on. Linux 5.12. */
export function setMountAttributes(fd: number, attributes: number, { recursive }: { recursive: boolean }): number {
  const wanted = new BigUint64Array([BigInt(attributes), 0n, 0n, 0n]);
  const flags = AT_EMPTY_PATH | (recursive ? AT_RECURSIVE : 0);
  return systemCall(MOUNT_SETATTR, fd, EMPTY, flags, bytesOf(wanted), wanted.byteLength);
}

const MS_PRIVATE = 0x40000n;
const MS_SLAVE = 0x80000n;

/** Cuts the mounts below `path` off from other namespaces: what is mounted in one does not show in the other. */
export function makeMountsPrivate(path: Bytes): number {
  return setPropagation(path, MS_PRIVATE);
}

/** What is mounted below `path` in this namespace does not show in others; what is in others may still show here. */
export function makeMountsSlaves(path: Bytes): number {
  return setPropagation(path, MS_SLAVE);
}

function setPropagation(path: Bytes, type: bigint): number {
  const wanted = new BigUint64Array([0n, 0n, type, 0n]);
  return systemCall(MOUNT_SETATTR, AT_FDCWD, path, AT_RECURSIVE, bytesOf(wanted), wanted.byteLength);
}

/** Makes the working directory, which must be a mount, the root; the old root lies on top of it then. */
export function pivotRoot(): number {
  return systemCall(NUMBERS.pivot_root, cBytes("."), cBytes("."));
}

const MNT_DETACH = 2;

export function detachMount(path: Bytes): number {
  return systemCall(NUMBERS.umount2, path, MNT_DETACH);
}
