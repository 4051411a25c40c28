import { borrowBuffer } from "../../buffer_pool.ts";
import { EINTR, EINVAL } from "../../linux/errno.ts";
import * as calls from "../../linux/file_calls.ts";
import { type Bytes, close } from "../../linux/libc.ts";
import type { MaybePromise, NativePath, OpenFile } from "../operations.ts";
import { checked, OsError } from "../os_error.ts";
import { notAFile } from "../refusals.ts";
import { Descriptor } from "./descriptor.ts";
import { emptyFile } from "./empty_file.ts";
import { regularFileSize } from "./file_kind.ts";
import { openPath } from "./open_at.ts";
import { readAtOnce } from "./read_at_once.ts";
import { READING } from "./read_file.ts";
import { AT_ONCE_BYTES, PIECE_BYTES, progress } from "./write_all.ts";
import { NEW_FILE_MODE, WRITING } from "./write_file.ts";

/** See {@linkcode FileOperations.openForReading}. */
export function openForReading(path: NativePath): OpenFile {
  return openedForReading(openPath(path, true, READING), path);
}

/** The same for what is open already, as {@linkcode READING} says; `fd` belongs to this function from here on. */
export function openedForReading(fd: number, path: NativePath): OpenFile {
  return new LinuxFile(regular(fd, path).descriptor);
}

/** See {@linkcode FileOperations.openForReplacing}. */
export function openForReplacing(path: NativePath, signal: AbortSignal): MaybePromise<OpenFile> {
  return openedForReplacing(openPath(path, true, WRITING, NEW_FILE_MODE), path, signal);
}

/** The same for what is open already, as {@linkcode WRITING} says; `fd` belongs to this function from here on. */
export function openedForReplacing(fd: number, path: NativePath, signal: AbortSignal): MaybePromise<OpenFile> {
  const { descriptor, size } = regular(fd, path);
  const failed = (error: unknown): never => {
    descriptor[Symbol.dispose]();
    throw error;
  };
  try {
    const emptied = emptyFile(descriptor.fd, size);
    if (emptied === undefined) return new LinuxFile(descriptor);
    return emptied.then(() => {
      signal.throwIfAborted();
      return new LinuxFile(descriptor);
    }).catch(failed);
  } catch (error) {
    return failed(error);
  }
}

function regular(fd: number, path: NativePath): { descriptor: Descriptor; size: number } {
  try {
    const size = regularFileSize(fd);
    if (size === null) throw notAFile(path);
    return { descriptor: new Descriptor(fd, size), size };
  } catch (error) {
    close(fd);
    throw error;
  }
}

/** Offsets end here. */
const MAX_OFFSET = 2n ** 63n - 1n;

class LinuxFile implements OpenFile {
  readonly #descriptor: Descriptor;

  constructor(descriptor: Descriptor) {
    this.#descriptor = descriptor;
  }

  read(offset: bigint, length: number, signal: AbortSignal): MaybePromise<Bytes> {
    if (offset > MAX_OFFSET) throw new OsError(EINVAL);
    const { fd } = this.#descriptor;
    const buffer = borrowBuffer(length);
    for (let fill = 0; fill < length;) {
      const room = buffer.subarray(fill);
      const position = offset + BigInt(fill);
      const count = readAtOnce(fd, room, position, () => calls.pread(fd, room, position));
      if (count === 0) return buffer.subarray(0, fill);
      if (count === null) return this.#descriptor.during((fd) => readOn(fd, offset, buffer, fill, signal));
      fill += count;
    }
    return buffer;
  }

  write(offset: bigint, bytes: Bytes, signal: AbortSignal): MaybePromise<void> {
    const { fd } = this.#descriptor;
    const end = Number(offset) + bytes.length;
    if (bytes.length > AT_ONCE_BYTES) {
      return this.#descriptor.during(async (fd) => {
        await writeOn(fd, offset, bytes, signal);
        this.#descriptor.grown(end);
      });
    }
    for (let at = 0; at < bytes.length;) {
      const count = calls.pwrite(fd, bytes.subarray(at), offset + BigInt(at));
      if (count !== -EINTR) at += progress(count);
    }
    this.#descriptor.grown(end);
  }

  [Symbol.dispose](): void {
    this.#descriptor[Symbol.dispose]();
  }
}

/** Fills the rest of a buffer; `begun` bytes of it have been read. */
async function readOn(fd: number, offset: bigint, buffer: Bytes, begun: number, signal: AbortSignal): Promise<Bytes> {
  for (let fill = begun; fill < buffer.length;) {
    signal.throwIfAborted();
    const count = await calls.preadInBackground(fd, buffer.subarray(fill), offset + BigInt(fill));
    if (count === -EINTR) continue;
    if (checked(count) === 0) return buffer.subarray(0, fill);
    fill += count;
  }
  return buffer;
}

async function writeOn(fd: number, offset: bigint, bytes: Bytes, signal: AbortSignal): Promise<void> {
  for (let at = 0; at < bytes.length;) {
    signal.throwIfAborted();
    const count = await calls.pwriteInBackground(fd, bytes.subarray(at, at + PIECE_BYTES), offset + BigInt(at));
    if (count !== -EINTR) at += progress(count);
  }
}
