import { otherBusiness } from "../../linux/file_calls.ts";
import type { Log } from "../../log.ts";
import type { Caller, FileOperations } from "../operations.ts";
import { Slice } from "../slice.ts";
import { canonicalize } from "./canonicalize.ts";
import { copy } from "./copy.ts";
import { createDirectory } from "./create_directory.ts";
import { getMetadata } from "./metadata.ts";
import { openForReading, openForReplacing } from "./open_file.ts";
import { readDirectory } from "./read_directory.ts";
import { readFile } from "./read_file.ts";
import { remove } from "./remove.ts";
import { walk } from "./walk.ts";
import { MissingWatches } from "./watch_missing.ts";
import { writeFile } from "./write_file.ts";

/** The operations of Linux, on paths of any bytes. Leaving the scope ends all watches. */
export function linuxFiles({ log }: { readonly log: Log }): FileOperations & Disposable {
  const watches = new MissingWatches(log);
  const slice = (caller: Caller): Slice => new Slice(() => caller.budgetMs(), otherBusiness);
  return {
    readFile: (path, followSymlinks, { signal }) => readFile(path, followSymlinks, signal),
    openForReading: (path) => openForReading(path),
    openForReplacing: (path, { signal }) => openForReplacing(path, signal),
    writeFile: (path, bytes, followSymlinks, { signal }) => writeFile(path, bytes, followSymlinks, signal),
    createDirectory: (path, options, caller) => createDirectory(path, options, slice(caller), caller.signal),
    getMetadata: (path, followSymlinks) => getMetadata(path, followSymlinks),
    canonicalize: (path) => canonicalize(path),
    readDirectory: (path, caller) => readDirectory(path, slice(caller), caller.signal),
    walk: (path, options, caller) => walk(path, options, slice(caller), caller.signal),
    remove: (path, options, caller) => remove(path, options, slice(caller), caller.signal),
    copy: (source, destination, recursive, caller) =>
      copy(source, destination, recursive, slice(caller), caller.signal),
    watchMissing: (missing, present, changed) => watches.watch(missing, present, changed),
    [Symbol.dispose]: () => watches[Symbol.dispose](),
  };
}
