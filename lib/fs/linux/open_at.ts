/** Opens files by their paths' bytes, through links or strictly without. */

import { cString } from "../../linux/cstring.ts";
import * as calls from "../../linux/file_calls.ts";
import { type Bytes, close, O_CLOEXEC, O_DIRECTORY } from "../../linux/libc.ts";
import { split } from "../../native_path.ts";
import type { NativePath } from "../operations.ts";
import { checked } from "../os_error.ts";
import { mustNameAnEntry } from "../refusals.ts";

const DIRECTORY_ON_THE_WAY = O_DIRECTORY | calls.O_PATH | calls.O_NOFOLLOW | O_CLOEXEC;
const ROOT = cString("/");

/**
 * @param flags Besides O_CLOEXEC.
 * @param mode For a file that is created.
 * @returns A descriptor.
 * @throws {ExecError} What the system says; without following links ENOTDIR for one on the way and ELOOP for a last one.
 */
export function openPath(path: NativePath, followSymlinks: boolean, flags: number, mode = 0): number {
  if (followSymlinks) return checked(calls.openAt(calls.AT_FDCWD, cString(path), flags | O_CLOEXEC, mode));
  return inParent(
    path,
    (parent, name) => checked(calls.openAt(parent, name, flags | calls.O_NOFOLLOW | O_CLOEXEC, mode)),
  );
}

/**
 * Goes down to the directory of a path's last component, opening one after the other so that no link is followed, and
 * calls `act` with its descriptor and that component.
 *
 * @throws {ExecError} `invalidRequest` for the root, which is in no directory.
 */
export function inParent<T>(path: NativePath, act: (parent: number, name: Bytes) => T): T {
  let name: NativePath | undefined;
  let directory = checked(calls.openAt(calls.AT_FDCWD, ROOT, DIRECTORY_ON_THE_WAY));
  try {
    for (const component of split(path)) {
      if (name !== undefined) {
        const next = checked(calls.openAt(directory, cString(name), DIRECTORY_ON_THE_WAY));
        close(directory);
        directory = next;
      }
      name = component;
    }
    if (name === undefined) throw mustNameAnEntry();
    return act(directory, cString(name));
  } finally {
    close(directory);
  }
}
