import type { DirectoryEntry, NativePath } from "../operations.ts";
import { OsError } from "../os_error.ts";
import { Slice } from "../slice.ts";
import { orOsError } from "./os_failure.ts";
import { childOf, pathText } from "./path_text.ts";

/** Resolves when the event loop has looked at its other business. */
const giveWay = () => new Promise<void>((resolve) => setTimeout(resolve));

/** Longer work, as long as the caller allows at a time. */
export function sliceFor({ budgetMs }: { budgetMs(): number }): Slice {
  return new Slice(budgetMs, giveWay);
}

/** What the runtime lists of a directory: names, and what they are without following links. */
export async function listOf(path: string, slice: Slice, signal: AbortSignal): Promise<Deno.DirEntry[]> {
  const entries: Deno.DirEntry[] = [];
  const listing = Deno.readDir(path)[Symbol.asyncIterator]();
  for (;;) {
    const { done, value } = await orOsError(Promise.resolve(listing.next()));
    if (done) return entries;
    entries.push(value);
    await slice.pause(signal);
  }
}

/** See {@linkcode FileOperations.readDirectory}; in the order of the file system. */
export async function readDirectory(
  path: NativePath,
  slice: Slice,
  signal: AbortSignal,
): Promise<readonly DirectoryEntry[]> {
  const text = pathText(path);
  const entries: DirectoryEntry[] = [];
  for (const { name, isDirectory, isFile, isSymlink } of await listOf(text, slice, signal)) {
    signal.throwIfAborted();
    if (!isSymlink) entries.push({ fileName: name, isDirectory, isFile });
    else {
      const target = await targetOf(childOf(text, name));
      if (target !== null) entries.push({ fileName: name, isDirectory: target.isDirectory, isFile: target.isFile });
    }
  }
  return entries;
}

/** What a link leads to; null if it leads nowhere that we may look at. */
export async function targetOf(link: string): Promise<Deno.FileInfo | null> {
  try {
    return await orOsError(Deno.stat(link));
  } catch (error) {
    if (error instanceof OsError) return null;
    throw error;
  }
}
