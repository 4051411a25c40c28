import { ENOENT } from "../../linux/errno.ts";
import type { NativePath } from "../operations.ts";
import { OsError } from "../os_error.ts";
import { mustNameAnEntry, recursiveWithoutLinks, rootStays, symbolicLink } from "../refusals.ts";
import { isSameFile, look } from "./look.ts";
import { orOsError } from "./os_failure.ts";
import { isRoot, pathText, rootLength } from "./path_text.ts";

export interface RemoveOptions {
  readonly recursive: boolean;
  readonly force: boolean;
  readonly followSymlinks: boolean;
}

/** What cannot be undone. */
export type Remove = (path: string, options: { readonly recursive: boolean }) => Promise<void>;

/**
 * See {@linkcode FileOperations.remove}. A tree is removed by the runtime in one call, which follows no link that is put
 * in its way, but is not ended when the caller has gone.
 */
export async function remove(
  path: NativePath,
  { recursive, force, followSymlinks }: RemoveOptions,
  signal: AbortSignal,
  really: Remove = Deno.remove,
): Promise<void> {
  if (!followSymlinks && recursive) throw recursiveWithoutLinks();
  const text = pathText(path);
  if (!followSymlinks && isRoot(text)) throw mustNameAnEntry();
  try {
    const info = followSymlinks ? await orOsError(Deno.lstat(text)) : await look(text, false);
    if (!followSymlinks && info.isSymlink) throw symbolicLink();
    if (recursive && info.isDirectory && await isTop(text, info)) throw rootStays();
    signal.throwIfAborted();
    await orOsError(really(text, { recursive: recursive && info.isDirectory }));
  } catch (error) {
    if (!force || !(error instanceof OsError) || error.errno !== ENOENT) throw error;
  }
}

/** Whether a directory is the one above all, by whatever name. */
async function isTop(path: string, info: Deno.FileInfo): Promise<boolean> {
  if (isRoot(path) || isRoot(await orOsError(Deno.realPath(path)))) return true;
  return info.ino !== null && isSameFile(info, await orOsError(Deno.lstat(path.slice(0, rootLength(path)))));
}
