import type { Log } from "../../log.ts";
import type { FileOperations } from "../operations.ts";
import { copy } from "./copy.ts";
import { canonicalize, createDirectory, getMetadata } from "./metadata.ts";
import { openForReading, openForReplacing } from "./open_file.ts";
import { readDirectory, sliceFor } from "./read_directory.ts";
import { remove } from "./remove.ts";
import { walk } from "./walk.ts";
import { watchMissing } from "./watch_missing.ts";
import { readFile, writeFile } from "./whole_file.ts";

/**
 * The operations by the runtime's own asynchronous functions, for systems that have no back end of their own. The
 * rules and the errors are those of Linux, numbers and texts included, whatever the system counts like.
 *
 * What it does less well than `linux/`:
 *
 * - Names that are not UTF-8 can be listed only, not used: they are not there.
 * - Files are found by their paths at each step, so a directory that is swapped for a link meanwhile leads elsewhere:
 *   while a tree is copied, and between the look at a path and its use where links are not to be followed (of files
 *   that are read or written it is checked that the opened one is the one looked at). Removing a tree is safe.
 * - A pipe is never written to, since opening one waits for its reader; one that takes a file's place between the
 *   look and the opening keeps a thread of the runtime waiting.
 * - A removal that has begun is not ended when its caller has gone.
 * - Reads and writes of one open file go one after the other.
 * - What `watchMissing` does not see is said there.
 */
export function portableFiles(options: { readonly log: Log }): FileOperations & Disposable {
  const { log } = options;
  return {
    readFile: (path, followSymlinks, { signal }) => readFile(path, followSymlinks, signal),
    openForReading: (path) => openForReading(path),
    openForReplacing: (path, { signal }) => openForReplacing(path, signal),
    writeFile: (path, bytes, followSymlinks, { signal }) => writeFile(path, bytes, followSymlinks, signal),
    createDirectory: (path, options, { signal }) => createDirectory(path, options, signal),
    getMetadata: (path, followSymlinks) => getMetadata(path, followSymlinks),
    canonicalize: (path) => canonicalize(path),
    readDirectory: (path, caller) => readDirectory(path, sliceFor(caller), caller.signal),
    walk: (path, options, caller) => walk(path, options, sliceFor(caller), caller.signal),
    remove: (path, options, { signal }) => remove(path, options, signal),
    copy: (source, destination, recursive, caller) =>
      copy(source, destination, recursive, sliceFor(caller), caller.signal),
    watchMissing: (missing, present, changed) => watchMissing(missing, present, changed, log),
    [Symbol.dispose]: () => {}, // watches end with the scopes that they were made for
  };
}
