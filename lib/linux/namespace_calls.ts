/** Views of the file system that one thread enters and leaves, and the rights that it needs for that. */

import { AT_FDCWD, type Bytes, bytesOf, cBytes, NUMBERS, O_CLOEXEC, systemCall } from "./system_call.ts";

const OWN_NUMBERS = Deno.build.arch === "aarch64"
  ? { fstatfs: 44, openat: 56, setns: 268, unshare: 97 }
  : { fstatfs: 138, openat: 257, setns: 308, unshare: 272 };

const CLONE_NEWNS = 0x20000;
const CLONE_FS = 0x200;

/** This thread gets a mount namespace of its own, like the one that it is in, and a root and working directory. */
export function unshareMounts(): number {
  return systemCall(OWN_NUMBERS.unshare, CLONE_NEWNS | CLONE_FS);
}

/** This thread goes to the mount namespace that `fd` is open on, and to its root; no other thread goes with it. */
export function enterMountNamespace(fd: number): number {
  // A thread that this one has started shares its root and working directory, until somebody parts with them.
  const parted = systemCall(OWN_NUMBERS.unshare, CLONE_FS);
  return parted < 0 ? parted : systemCall(OWN_NUMBERS.setns, fd, CLONE_NEWNS);
}

/** Opens a file for reading, links of /proc included, which lead to what has no path. */
export function openForReading(path: string): number {
  return systemCall(OWN_NUMBERS.openat, AT_FDCWD, cBytes(path), O_CLOEXEC, 0);
}

/** Of a file system that shows processes. */
export const PROC_SUPER_MAGIC = 0x9fa0;

/** `struct statfs` is 120 bytes on 64-bit machines and begins with the type. */
const STATFS_BYTES = 120;

/** The magic number of the file system that `fd` is on. */
export function fileSystemTypeOf(fd: number): number {
  const status = new DataView(new ArrayBuffer(STATFS_BYTES));
  const result = systemCall(OWN_NUMBERS.fstatfs, fd, bytesOf(status));
  return result < 0 ? result : status.getUint32(0, true);
}

const CAPABILITY_VERSION_3 = 0x20080522;

/** Makes every right that this thread may use count, or none of them; those that it may use stay the same. */
export function useCapabilities(on: boolean): number {
  const header: Bytes = bytesOf(new Uint32Array([CAPABILITY_VERSION_3, 0]));
  // Twice: effective, permitted, inheritable.
  const sets = new Uint32Array(6);
  const known = systemCall(NUMBERS.capget, header, bytesOf(sets));
  if (known < 0) return known;
  for (const at of [0, 3]) sets[at] = on ? sets[at + 1]! : 0;
  return systemCall(NUMBERS.capset, header, bytesOf(sets));
}
