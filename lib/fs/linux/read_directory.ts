import { cString } from "../../linux/cstring.ts";
import { AT_FDCWD } from "../../linux/file_calls.ts";
import type { DirectoryEntry, MaybePromise, NativePath } from "../operations.ts";
import type { Slice } from "../slice.ts";
import { LISTING, OpenDirectory } from "./open_directory.ts";
import { DirectoryReader, DT_DIR, DT_LNK, DT_REG, DT_UNKNOWN } from "./directory_reader.ts";
import { inSlices, type Steps } from "../steps.ts";
import { typeAt } from "./type_at.ts";

/** Entries between two looks at the clock: a tenth of a millisecond. */
export const ENTRIES_PER_STEP = 64;

/** See {@linkcode FileOperations.readDirectory}; in the order of the file system. */
export function readDirectory(
  path: NativePath,
  slice: Slice,
  signal: AbortSignal,
): MaybePromise<readonly DirectoryEntry[]> {
  return inSlices(entriesOf(path), slice, signal);
}

function* entriesOf(path: NativePath): Steps<DirectoryEntry[]> {
  using directory = OpenDirectory.at(AT_FDCWD, cString(path), LISTING);
  using reader = new DirectoryReader(directory.fd);
  const entries: DirectoryEntry[] = [];
  for (let count = 1; reader.advance(); count++) {
    const type = targetType(directory.fd, reader);
    if (type !== null) {
      entries.push({ fileName: reader.text, isDirectory: type === DT_DIR, isFile: type === DT_REG });
    }
    if (count % ENTRIES_PER_STEP === 0) yield;
  }
  return entries;
}

/** What the entry that a reader is at means once links have been followed, `DT_…`; null if they lead nowhere. */
export function targetType(directory: number, reader: DirectoryReader): number | null {
  if (reader.type !== DT_LNK && reader.type !== DT_UNKNOWN) return reader.type;
  const type = typeAt(directory, reader.name, 0);
  return type < 0 ? null : type;
}
