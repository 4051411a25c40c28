import { ExecError } from "../../errors.ts";
import { EEXIST, ENOTDIR } from "../../linux/errno.ts";
import type { Metadata, NativePath } from "../operations.ts";
import { OsError } from "../os_error.ts";
import { symbolicLink } from "../refusals.ts";
import { look, refuseLinksAbove } from "./look.ts";
import { orNull, orOsError } from "./os_failure.ts";
import { directoriesAbove, isRoot, pathBytes, pathText } from "./path_text.ts";

/** The reference tells when a file was created on the other systems, but not on Linux while it follows links. */
const TELLS_CREATION = Deno.build.os !== "linux";

/** See {@linkcode FileOperations.getMetadata}. */
export async function getMetadata(path: NativePath, followSymlinks: boolean): Promise<Metadata> {
  const text = pathText(path);
  const itself = followSymlinks ? await orOsError(Deno.lstat(text)) : await look(text, false);
  if (itself.isSymlink && !followSymlinks) throw symbolicLink();
  const { isDirectory, isFile, size, birthtime, mtime } = itself.isSymlink ? await orOsError(Deno.stat(text)) : itself;
  const createdAtMs = followSymlinks && !TELLS_CREATION ? 0 : birthtime?.getTime() ?? 0;
  const modifiedAtMs = mtime?.getTime() ?? 0;
  return {
    isDirectory,
    isFile,
    isSymlink: itself.isSymlink,
    size: isDirectory || isFile ? size : 0,
    createdAtMs: followSymlinks ? Math.max(0, createdAtMs) : createdAtMs,
    modifiedAtMs: followSymlinks ? Math.max(0, modifiedAtMs) : modifiedAtMs,
  };
}

/** See {@linkcode FileOperations.canonicalize}. */
export async function canonicalize(path: NativePath): Promise<NativePath> {
  return pathBytes(await orOsError(Deno.realPath(pathText(path))));
}

/** See {@linkcode FileOperations.createDirectory}. */
export async function createDirectory(
  path: NativePath,
  { recursive, followSymlinks }: { readonly recursive: boolean; readonly followSymlinks: boolean },
  signal: AbortSignal,
): Promise<void> {
  const text = pathText(path);
  signal.throwIfAborted();
  if (followSymlinks) await orOsError(Deno.mkdir(text, { recursive }));
  else if (recursive) await createWithoutLinks(text, signal);
  else if (isRoot(text)) throw new ExecError("internal", "directory already exists");
  else {
    await refuseLinksAbove(text);
    await orOsError(Deno.mkdir(text));
  }
}

async function createWithoutLinks(path: string, signal: AbortSignal): Promise<void> {
  for (const directory of [...directoriesAbove(path), path]) {
    signal.throwIfAborted();
    const info = await orNull(Deno.lstat(directory)) ?? await create(directory);
    if (!info.isDirectory) throw new OsError(ENOTDIR);
  }
}

/** Creates a directory, unless somebody else was quicker. */
async function create(directory: string): Promise<Deno.FileInfo> {
  try {
    await orOsError(Deno.mkdir(directory));
  } catch (error) {
    if (!(error instanceof OsError) || error.errno !== EEXIST) throw error;
  }
  return await orOsError(Deno.lstat(directory));
}
