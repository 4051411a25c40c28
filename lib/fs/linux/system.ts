import { ExecError } from "../../errors.ts";
import type { Log } from "../../log.ts";
import type { FileOperations } from "../operations.ts";
import { openForReading, openForReplacing } from "./open_file.ts";
import { readFile } from "./read_file.ts";
import { writeFile } from "./write_file.ts";

/** The operations of Linux, on paths of any bytes. */
export function linuxFiles(_options: { readonly log: Log }): FileOperations & Disposable {
  const notYet = (): never => {
    throw new ExecError("internal", "not yet");
  };
  return {
    readFile: (path, followSymlinks, { signal }) => readFile(path, followSymlinks, signal),
    openForReading: (path) => openForReading(path),
    openForReplacing: (path, { signal }) => openForReplacing(path, signal),
    writeFile: (path, bytes, followSymlinks, { signal }) => writeFile(path, bytes, followSymlinks, signal),
    createDirectory: notYet,
    getMetadata: notYet,
    canonicalize: notYet,
    readDirectory: notYet,
    walk: notYet,
    remove: notYet,
    copy: notYet,
    watchMissing: notYet,
    [Symbol.dispose]: () => {},
  };
}
