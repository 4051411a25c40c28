import { cString } from "../../linux/cstring.ts";
import { ENAMETOOLONG, ENOENT } from "../../linux/errno.ts";
import * as calls from "../../linux/file_calls.ts";
import type { MaybePromise, NativePath } from "../operations.ts";
import { checked, OsError } from "../os_error.ts";
import { recursiveWithoutLinks, symbolicLink } from "../refusals.ts";
import type { Slice } from "../slice.ts";
import { type Deleter, SystemDeleter } from "./deleter.ts";
import { inParent } from "./open_at.ts";
import { LOOKING_UP, OpenDirectory } from "./open_directory.ts";
import { removeTree } from "./remove_tree.ts";
import { inSlices, type Steps } from "../steps.ts";

export interface RemoveOptions {
  readonly recursive: boolean;
  readonly force: boolean;
  readonly followSymlinks: boolean;
}

const SLASH = 0x2f;
const CURRENT = cString(".");

/** Filled and read within one step. */
const status = new calls.FileStatus();

/** See {@linkcode FileOperations.remove}. */
export function remove(
  path: NativePath,
  options: RemoveOptions,
  slice: Slice,
  signal: AbortSignal,
): MaybePromise<void> {
  return inSlices(removal(path, options, new SystemDeleter()), slice, signal);
}

/** @param deleter Does what cannot be undone. */
export function* removal(path: NativePath, options: RemoveOptions, deleter: Deleter): Steps<void> {
  try {
    if (options.followSymlinks) yield* removeEntry(path, options.recursive, deleter);
    else if (options.recursive) throw recursiveWithoutLinks();
    else yield* removeWithoutLinks(path, deleter);
  } catch (error) {
    if (!options.force || !(error instanceof OsError) || error.errno !== ENOENT) throw error;
  }
}

/** Links in the path are followed, but for the last component. */
function* removeEntry(path: NativePath, recursive: boolean, deleter: Deleter): Steps<void> {
  if (path.length >= calls.PATH_MAX) throw new OsError(ENAMETOOLONG);
  // The root, which is in no directory, is looked up at itself; it is refused before anything happens to it.
  const slash = path.lastIndexOf(SLASH);
  using parent = OpenDirectory.at(calls.AT_FDCWD, cString(path.subarray(0, Math.max(1, slash))), LOOKING_UP);
  const name = path.length === 1 ? cString(path) : cString(path.subarray(slash + 1));
  checked(calls.statusAt(parent.fd, name, calls.AT_SYMLINK_NOFOLLOW, status));
  if (status.kind !== calls.S_IFDIR) checked(yield* deleter.unlink(parent.fd, name));
  else if (recursive) yield* removeTree(parent.fd, name, deleter);
  else checked(yield* deleter.removeDirectory(parent.fd, name));
}

function* removeWithoutLinks(path: NativePath, deleter: Deleter): Steps<void> {
  const { directory, name } = inParent(path, (parent, name) => ({
    directory: OpenDirectory.at(parent, CURRENT, LOOKING_UP),
    name,
  }));
  using parent = directory;
  checked(calls.statusAt(parent.fd, name, calls.AT_SYMLINK_NOFOLLOW, status));
  if (status.kind === calls.S_IFLNK) throw symbolicLink();
  if (status.kind === calls.S_IFDIR) checked(yield* deleter.removeDirectory(parent.fd, name));
  else checked(yield* deleter.unlink(parent.fd, name));
}
