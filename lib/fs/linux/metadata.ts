import { cString } from "../../linux/cstring.ts";
import * as calls from "../../linux/file_calls.ts";
import type { Metadata, NativePath } from "../operations.ts";
import { checked } from "../os_error.ts";
import { symbolicLink } from "../refusals.ts";
import { inParent } from "./open_at.ts";

/** Filled and read within one call. */
const status = new calls.FileStatus();

/** See {@linkcode FileOperations.getMetadata}. */
export function getMetadata(path: NativePath, followSymlinks: boolean): Metadata {
  return followSymlinks ? ofTarget(path) : withoutLinks(path);
}

/** The reference tells no time of creation here, and none before 1970. */
function ofTarget(path: NativePath): Metadata {
  const name = cString(path);
  checked(calls.statusAt(calls.AT_FDCWD, name, calls.AT_SYMLINK_NOFOLLOW, status));
  const isSymlink = status.kind === calls.S_IFLNK;
  if (isSymlink) checked(calls.statusAt(calls.AT_FDCWD, name, 0, status));
  return { ...kindAndSize(), isSymlink, createdAtMs: 0, modifiedAtMs: Math.max(0, status.modifiedMs) };
}

function withoutLinks(path: NativePath): Metadata {
  if (path.length === 1) checked(calls.statusAt(calls.AT_FDCWD, cString(path), calls.AT_SYMLINK_NOFOLLOW, status));
  else {
    inParent(path, (parent, name) => checked(calls.statusAt(parent, name, calls.AT_SYMLINK_NOFOLLOW, status)));
  }
  if (status.kind === calls.S_IFLNK) throw symbolicLink();
  return { ...kindAndSize(), isSymlink: false, createdAtMs: status.createdMs, modifiedAtMs: status.modifiedMs };
}

function kindAndSize(): Pick<Metadata, "isDirectory" | "isFile" | "size"> {
  const isDirectory = status.kind === calls.S_IFDIR;
  const isFile = status.kind === calls.S_IFREG;
  return { isDirectory, isFile, size: isDirectory || isFile ? status.size : 0 };
}
