import { cString } from "../../linux/cstring.ts";
import { AT_FDCWD } from "../../linux/file_calls.ts";
import { rootStays } from "../refusals.ts";
import { type Identity, isSame, LOOKING_UP, OpenDirectory } from "./open_directory.ts";

/** The root directory as this process sees it. */
export function rootIdentity(): Identity {
  using root = OpenDirectory.at(AT_FDCWD, cString("/"), LOOKING_UP);
  return root.identity();
}

/**
 * Refuses a directory whose content is about to be removed if it is the root directory, by whatever path it was reached:
 * the root can be mounted elsewhere a second time.
 *
 * @param root See {@linkcode rootIdentity}.
 * @throws {ExecError} `invalidRequest`.
 */
export function refuseRoot(directory: OpenDirectory, root: Identity): void {
  if (isSame(directory.identity(), root)) {
    throw rootStays();
  }
}
