import { ExecError } from "../../errors.ts";
import { cString } from "../../linux/cstring.ts";
import { EEXIST, ENOENT } from "../../linux/errno.ts";
import * as calls from "../../linux/file_calls.ts";
import { split } from "../../native_path.ts";
import type { MaybePromise, NativePath } from "../operations.ts";
import { checked } from "../os_error.ts";
import type { Slice } from "../slice.ts";
import { LOOKING_UP, OpenDirectory } from "./open_directory.ts";
import { inParent } from "./open_at.ts";
import { inSlices, type Steps } from "../steps.ts";

/** The system takes what the umask says from it. */
export const DIRECTORY_MODE = 0o777;

const SLASH = 0x2f;
const WITHOUT_LINKS = LOOKING_UP | calls.O_NOFOLLOW;

/** Filled and read within one step. */
const status = new calls.FileStatus();

/** See {@linkcode FileOperations.createDirectory}. */
export function createDirectory(
  path: NativePath,
  options: { readonly recursive: boolean; readonly followSymlinks: boolean },
  slice: Slice,
  signal: AbortSignal,
): MaybePromise<void> {
  return inSlices(steps(path, options), slice, signal);
}

function* steps(
  path: NativePath,
  { recursive, followSymlinks }: { readonly recursive: boolean; readonly followSymlinks: boolean },
): Steps<void> {
  if (recursive) yield* followSymlinks ? createWithParents(path) : createWithoutLinks(path);
  else if (followSymlinks) checked(calls.makeDirectoryAt(calls.AT_FDCWD, cString(path), DIRECTORY_MODE));
  else if (path.length === 1) throw new ExecError("internal", "directory already exists");
  else inParent(path, (parent, name) => checked(calls.makeDirectoryAt(parent, name, DIRECTORY_MODE)));
}

/**
 * Creates a directory and what is missing above it; content if it is there, be it behind a link.
 *
 * @throws {OsError}
 */
export function* createWithParents(path: NativePath): Steps<void> {
  const missing: NativePath[] = [];
  for (let rest = path;;) {
    const result = calls.makeDirectoryAt(calls.AT_FDCWD, cString(rest), DIRECTORY_MODE);
    if (result !== -ENOENT) {
      checkCreated(rest, result);
      break;
    }
    missing.push(rest);
    rest = rest.subarray(0, Math.max(1, rest.lastIndexOf(SLASH)));
    yield;
  }
  for (const directory of missing.reverse()) {
    checkCreated(directory, calls.makeDirectoryAt(calls.AT_FDCWD, cString(directory), DIRECTORY_MODE));
    yield;
  }
}

/** Whatever mkdir says, a directory that is there will do. */
function checkCreated(path: NativePath, result: number): void {
  if (result === 0) return;
  const isDirectory = calls.statusAt(calls.AT_FDCWD, cString(path), 0, status) === 0 && status.kind === calls.S_IFDIR;
  if (!isDirectory) checked(result);
}

function* createWithoutLinks(path: NativePath): Steps<void> {
  let directory = OpenDirectory.at(calls.AT_FDCWD, cString("/"), WITHOUT_LINKS);
  try {
    for (const component of split(path)) {
      const name = cString(component);
      let next = calls.openAt(directory.fd, name, WITHOUT_LINKS);
      if (next === -ENOENT) {
        const made = calls.makeDirectoryAt(directory.fd, name, DIRECTORY_MODE);
        if (made !== -EEXIST) checked(made); // somebody else was quicker
        next = calls.openAt(directory.fd, name, WITHOUT_LINKS);
      }
      const child = new OpenDirectory(checked(next));
      directory[Symbol.dispose]();
      directory = child;
      yield;
    }
  } finally {
    directory[Symbol.dispose]();
  }
}
