import { borrowBuffer } from "../../buffer_pool.ts";
import { CURRENT_POSITION, readInBackground } from "../../linux/file_calls.ts";
import { type Bytes, O_NOCTTY, O_NONBLOCK, O_RDONLY, read } from "../../linux/libc.ts";
import { Base64Writer } from "../base64_writer.ts";
import type { FileContent, MaybePromise, NativePath } from "../operations.ts";
import { checked } from "../os_error.ts";
import { checkReadLimit } from "../read_limit.ts";
import { notAFile, notARegularFile } from "../refusals.ts";
import { openPath } from "./open_at.ts";
import { readAtOnce } from "./read_at_once.ts";
import { useFile } from "./use_file.ts";

/** What is larger, or not in memory, is read on another thread and turned into base64 on the way. */
const AT_ONCE_BYTES = 2 * 1024 * 1024;
/** First room for a file that tells no size, such as those below /proc. */
const UNKNOWN_SIZE_BYTES = 4096;
/** Bytes read at a time on another thread. */
const PIECE_BYTES = 1024 * 1024;

/** Neither opening nor reading waits for another program. */
export const READING = O_RDONLY | O_NONBLOCK | O_NOCTTY;

/** See {@linkcode FileOperations.readFile}. */
export function readFile(path: NativePath, followSymlinks: boolean, signal: AbortSignal): MaybePromise<FileContent> {
  return readOpened(openPath(path, followSymlinks, READING), path, followSymlinks, signal);
}

/**
 * The same for what is open already.
 *
 * @param fd Opened as {@linkcode READING} says; belongs to this function from here on.
 */
export function readOpened(
  fd: number,
  path: NativePath,
  followSymlinks: boolean,
  signal: AbortSignal,
): MaybePromise<FileContent> {
  return useFile(fd, 0, (size) => {
    if (size === null) throw followSymlinks ? notAFile(path) : notARegularFile();
    checkReadLimit(size);
    return size > AT_ONCE_BYTES ? readOn(fd, NOTHING, size, signal) : readShort(fd, size, signal);
  });
}

const NOTHING = new Uint8Array(new ArrayBuffer(0));

function readShort(fd: number, size: number, signal: AbortSignal): MaybePromise<FileContent> {
  // With one byte to spare the end is seen without more room.
  let buffer: Bytes = borrowBuffer(size > 0 ? size + 1 : UNKNOWN_SIZE_BYTES);
  let length = 0;
  while (length <= AT_ONCE_BYTES) {
    if (length === buffer.length) buffer = new Uint8Array(buffer.buffer.transfer(2 * length));
    const room = buffer.subarray(length);
    const count = readAtOnce(fd, room, CURRENT_POSITION, () => read(fd, room));
    if (count === 0) return buffer.subarray(0, length);
    if (count === null) break;
    length += count;
  }
  return readOn(fd, buffer.subarray(0, length), size, signal);
}

/** Reads to the end, wherever that is by then. `begun` is what has been read already. */
async function readOn(fd: number, begun: Bytes, size: number, signal: AbortSignal): Promise<FileContent> {
  const writer = new Base64Writer(Math.max(size, begun.length));
  const buffer = new Uint8Array(new ArrayBuffer(PIECE_BYTES));
  let total = begun.length;
  let taken = writer.add(begun);
  let rest = begun.length - taken;
  buffer.set(begun.subarray(taken));
  while (true) {
    const count = checked(await readInBackground(fd, buffer.subarray(rest)));
    signal.throwIfAborted();
    if (count === 0) return writer.end(buffer.subarray(0, rest));
    total += count;
    checkReadLimit(total);
    taken = writer.add(buffer.subarray(0, rest + count));
    buffer.copyWithin(0, taken, rest + count);
    rest += count - taken;
  }
}
