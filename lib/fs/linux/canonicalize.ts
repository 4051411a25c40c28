import { cString } from "../../linux/cstring.ts";
import { realPath } from "../../linux/file_calls.ts";
import type { NativePath } from "../operations.ts";
import { OsError } from "../os_error.ts";

/** See {@linkcode FileOperations.canonicalize}. */
export function canonicalize(path: NativePath): NativePath {
  const real = realPath(cString(path));
  if (typeof real === "number") throw new OsError(-real);
  return real;
}
