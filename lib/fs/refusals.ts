/** Refusals that are no errors of the system; the words are the contract. */

import { ExecError } from "../errors.ts";
import type { NativePath } from "./operations.ts";

/** Something that is no regular file was to be read, or kept open. */
export function notAFile(path: NativePath): ExecError {
  return new ExecError("invalidRequest", `path \`${new TextDecoder().decode(path)}\` is not a file`);
}

/** The same where links are not followed. */
export function notARegularFile(): ExecError {
  return new ExecError("invalidRequest", "path is not a regular file");
}

/** The root where an entry of a directory is needed, since links are not followed. */
export function mustNameAnEntry(): ExecError {
  return new ExecError("invalidRequest", "path must name an entry");
}

/** The last component is a link, which was not to be followed. */
export function symbolicLink(): ExecError {
  return new ExecError("invalidRequest", "path contains a symbolic link");
}

export function recursiveWithoutLinks(): ExecError {
  return new ExecError("internal", "recursive no-follow removal is unsupported");
}

/** Ours: the reference would begin. */
export function rootStays(): ExecError {
  return new ExecError("invalidRequest", "refusing to remove the root directory");
}

/** A pipe, a socket or a device. */
export function notCopied(): ExecError {
  return new ExecError("invalidRequest", "fs/copy only supports regular files, directories, and symlinks");
}

export function directoryWithoutRecursive(): ExecError {
  return new ExecError("invalidRequest", "fs/copy requires recursive: true when sourcePath is a directory");
}

export function copyIntoItself(): ExecError {
  return new ExecError("invalidRequest", "fs/copy cannot copy a directory to itself or one of its descendants");
}

/** What was to be confined could not be, and nothing was done. */
export function notConfined(reason: string): ExecError {
  return new ExecError("internal", `fs sandbox helper failed with status unavailable: ${reason}`);
}
