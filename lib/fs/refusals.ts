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
