import { cString } from "../../linux/cstring.ts";
import { ENAMETOOLONG } from "../../linux/errno.ts";
import { PATH_MAX, realPath } from "../../linux/file_calls.ts";
import type { NativePath } from "../operations.ts";
import { OsError } from "../os_error.ts";

/** See {@linkcode FileOperations.canonicalize}. */
export function canonicalize(path: NativePath): NativePath {
  // Every other call refuses such a path; realpath of glibc walks along it.
  if (path.length >= PATH_MAX) throw new OsError(ENAMETOOLONG);
  const real = realPath(cString(path));
  if (typeof real === "number") throw new OsError(-real);
  return real;
}
