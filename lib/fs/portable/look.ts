/** Looks at files by their paths. */

import { ENOTDIR } from "../../linux/errno.ts";
import { OsError } from "../os_error.ts";
import { orOsError } from "./os_failure.ts";
import { directoriesAbove } from "./path_text.ts";

/** What is at a path; a link itself if links are not followed, and then there must be none above it either. */
export async function look(path: string, followSymlinks: boolean): Promise<Deno.FileInfo> {
  if (followSymlinks) return await orOsError(Deno.stat(path));
  await refuseLinksAbove(path);
  return await orOsError(Deno.lstat(path));
}

/** @throws {OsError} ENOTDIR if something above the path is a link or no directory. */
export async function refuseLinksAbove(path: string): Promise<void> {
  for (const directory of directoriesAbove(path)) {
    if (!(await orOsError(Deno.lstat(directory))).isDirectory) throw new OsError(ENOTDIR);
  }
}

/** Whether two looks saw the same file; yes if the system cannot tell. */
export function isSameFile(a: Deno.FileInfo, b: Deno.FileInfo): boolean {
  return a.dev === b.dev && a.ino === b.ino;
}

/** Whether opening it would wait for another program, or is impossible. */
export function isPipeOrSocket({ isFifo, isSocket }: Deno.FileInfo): boolean {
  return isFifo === true || isSocket === true;
}
