import { O_CREAT } from "../../linux/file_calls.ts";
import { type Bytes, O_NOCTTY, O_NONBLOCK, O_WRONLY } from "../../linux/libc.ts";
import type { MaybePromise, NativePath } from "../operations.ts";
import { notARegularFile } from "../refusals.ts";
import { emptyFile } from "./empty_file.ts";
import { openPath } from "./open_at.ts";
import { useFile } from "./use_file.ts";
import { writeAll } from "./write_all.ts";

/** A fifo that nobody reads is refused instead of waited for. The file is emptied once it is known to be one. */
export const WRITING = O_WRONLY | O_CREAT | O_NONBLOCK | O_NOCTTY;
/** What the umask leaves of it. */
export const NEW_FILE_MODE = 0o666;

/** See {@linkcode FileOperations.writeFile}. Devices and fifos are written to unless links are not followed. */
export function writeFile(
  path: NativePath,
  bytes: Bytes,
  followSymlinks: boolean,
  signal: AbortSignal,
): MaybePromise<void> {
  return writeOpened(openPath(path, followSymlinks, WRITING, NEW_FILE_MODE), bytes, followSymlinks, signal);
}

/**
 * The same for what is open already.
 *
 * @param fd Opened as {@linkcode WRITING} says; belongs to this function from here on.
 */
export function writeOpened(
  fd: number,
  bytes: Bytes,
  followSymlinks: boolean,
  signal: AbortSignal,
): MaybePromise<void> {
  return useFile(fd, bytes.length, (size) => {
    if (size === null && !followSymlinks) throw notARegularFile();
    const emptied = size === null ? undefined : emptyFile(fd, size);
    return emptied === undefined ? writeAll(fd, bytes, signal) : emptied.then(() => writeAll(fd, bytes, signal));
  });
}
