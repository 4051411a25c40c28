/** The trees that every view has afresh, `/dev` and `/proc`: what is in them, whatever the machine's own have. */

import { isAtOrBelow } from "./byte_path.ts";
import type { BytePath } from "./policy.ts";

/** What stands in a fresh /dev and can be covered. */
const FRESH_DEVICES = ["null", "zero", "full", "random", "urandom", "tty", "shm", "pts"].map((name) => `/dev/${name}`);

export function isFreshDevice(path: BytePath): boolean {
  return path === "/dev" || FRESH_DEVICES.includes(path);
}

/** Holds files like any other directory. */
export function isSharedMemory(path: BytePath): boolean {
  return isAtOrBelow(path, "/dev/shm");
}

/** A path of one of the machine's processes: a fresh /proc gives its number to another one, or to none. */
export function isOfAProcess(path: BytePath): boolean {
  return /^\/proc\/\d+(\/|$)/.test(path);
}
