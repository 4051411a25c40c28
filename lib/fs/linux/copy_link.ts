import * as calls from "../../linux/file_calls.ts";
import type { Bytes } from "../../linux/libc.ts";
import { checked } from "../os_error.ts";

/** A name, with a NUL, that is looked up at a descriptor unless it is an absolute path. */
export interface Place {
  readonly at: number;
  readonly name: Bytes;
}

/** Longest that a link can be, with room for a NUL: PATH_MAX. */
const target = new Uint8Array(new ArrayBuffer(4096));

/**
 * Makes a link with the same target, whatever it leads to.
 *
 * @throws {OsError} EEXIST if there is anything at the destination.
 */
export function copyLink(from: Place, to: Place): void {
  const length = checked(calls.readLinkAt(from.at, from.name, target.subarray(0, target.length - 1)));
  target[length] = 0;
  checked(calls.makeSymlinkAt(target.subarray(0, length + 1), to.at, to.name));
}
