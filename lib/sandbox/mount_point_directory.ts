/** Sees to it that nobody but this user can read or change the record of placeholders. */

import { ExecError } from "../errors.ts";
import { EEXIST, errnoText } from "../linux/errno.ts";
import * as files from "../linux/file_calls.ts";
import { O_DIRECTORY, O_RDONLY } from "../linux/libc.ts";
import { fromText } from "./byte_path.ts";
import type { MountPointCalls } from "./mount_point_calls.ts";

const PRIVATE_MODE = 0o700;
const OTHERS = 0o077;

/**
 * Makes the record's directory, and the one that it lies in, where they are missing.
 *
 * @returns A descriptor of it. It is locked in common with all servers, which keeps those away who clear out old files.
 * @throws {ExecError} `sandboxUnavailable` if one of the two is a link, another user's, or open to others.
 */
export function openRecordDirectory(calls: MountPointCalls, path: string, uid: number): number {
  const names = path.split("/");
  const above = names.slice(0, -1).join("/");
  calls.close(openPrivate(calls, above, uid));
  const directory = openPrivate(calls, path, uid);
  calls.tryLock(directory, files.LOCK_SH);
  return directory;
}

function openPrivate(calls: MountPointCalls, path: string, uid: number): number {
  const made = calls.makeDirectory(files.AT_FDCWD, fromText(path), PRIVATE_MODE);
  if (made < 0 && made !== -EEXIST) throw unusable(path, errnoText(-made));
  const directory = calls.open(files.AT_FDCWD, fromText(path), O_RDONLY | O_DIRECTORY, 0);
  if (directory < 0) throw unusable(path, errnoText(-directory));
  const status = new files.FileStatus();
  const found = calls.status(directory, "", status);
  const fault = found < 0
    ? errnoText(-found)
    : status.owner !== uid
    ? "another user owns it"
    : (status.mode & OTHERS) !== 0
    ? "others may use it"
    : undefined;
  if (fault === undefined) return directory;
  calls.close(directory);
  throw unusable(path, fault);
}

function unusable(path: string, fault: string): ExecError {
  return new ExecError("sandboxUnavailable", `the record of mount points cannot be kept in ${path}: ${fault}`);
}
