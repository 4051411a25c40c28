import { EFBIG, EINVAL, EISDIR, ELOOP, ENXIO } from "../../linux/errno.ts";
import type { NativePath, OpenFile } from "../operations.ts";
import { OsError } from "../os_error.ts";
import { notAFile, notARegularFile } from "../refusals.ts";
import { isPipeOrSocket, isSameFile, look } from "./look.ts";
import { orNull, orOsError } from "./os_failure.ts";
import { pathText } from "./path_text.ts";

/** Bytes that are read or written in one call: between two of them the caller can be seen to have gone. */
export const PIECE_BYTES = 1024 * 1024;
const NEW_FILE_MODE = 0o666;
const MAX_OFFSET = 2n ** 63n - 1n;

/** See {@linkcode FileOperations.openForReading}. */
export async function openForReading(path: NativePath): Promise<OpenFile> {
  return new PortableFile((await openRegular(path, true)).file);
}

/** See {@linkcode FileOperations.openForReplacing}. */
export async function openForReplacing(path: NativePath, signal: AbortSignal): Promise<OpenFile> {
  return new PortableFile(await openEmptied(path, { followSymlinks: true, devices: false }, signal));
}

/** A regular file, open for reading. */
export async function openRegular(
  path: NativePath,
  followSymlinks: boolean,
): Promise<{ readonly file: Deno.FsFile; readonly info: Deno.FileInfo }> {
  const text = pathText(path);
  const before = await look(text, followSymlinks);
  if (before.isSymlink) throw new OsError(ELOOP);
  if (before.isSocket === true) throw new OsError(ENXIO);
  const refusal = () => followSymlinks ? notAFile(path) : notARegularFile();
  if (!before.isFile) throw refusal();
  const file = await orOsError(Deno.open(text, { read: true }));
  return await orClose(file, async () => {
    const info = await orOsError(file.stat());
    if (!info.isFile) throw refusal();
    if (!followSymlinks && !isSameFile(before, info)) throw new OsError(ELOOP); // there may be a link by now
    return { file, info };
  });
}

export interface WayOfWriting {
  readonly followSymlinks: boolean;
  /** Whether devices are written to as well. */
  readonly devices: boolean;
  /** Looks at the file before it is emptied; what it throws keeps it. */
  readonly check?: (info: Deno.FileInfo) => void;
  /** For a new file, less what the umask says. */
  readonly mode?: number;
}

/** A file that is created or emptied, open for writing. */
export async function openEmptied(
  path: NativePath,
  { followSymlinks, devices, check, mode = NEW_FILE_MODE }: WayOfWriting,
  signal: AbortSignal,
): Promise<Deno.FsFile> {
  const text = pathText(path);
  const before = await orNull(look(text, followSymlinks));
  if (before !== null) {
    if (before.isSymlink) throw new OsError(ELOOP);
    if (before.isDirectory) throw new OsError(EISDIR);
    if (isPipeOrSocket(before)) throw new OsError(ENXIO);
  }
  signal.throwIfAborted();
  const creation = followSymlinks ? { create: true } : { createNew: before === null };
  const file = await orOsError(Deno.open(text, { write: true, mode, ...creation }));
  return await orClose(file, async () => {
    const info = await orOsError(file.stat());
    if (!followSymlinks && before !== null && !isSameFile(before, info)) throw new OsError(ELOOP);
    if (!info.isFile && !devices) throw followSymlinks ? notAFile(path) : notARegularFile();
    check?.(info);
    signal.throwIfAborted();
    if (info.isFile) await orOsError(file.truncate(0));
    return file;
  });
}

/** Writes all bytes at the file's position. */
export async function writeAll(file: Deno.FsFile, bytes: Uint8Array<ArrayBuffer>, signal: AbortSignal): Promise<void> {
  for (let at = 0; at < bytes.length;) {
    signal.throwIfAborted();
    at += await orOsError(file.write(bytes.subarray(at, at + PIECE_BYTES)));
  }
}

/** Does the work, and closes the file if it fails. */
async function orClose<T>(file: Deno.FsFile, work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    file.close();
    throw error;
  }
}

/** The runtime has one position per file, so what is done with it is done one by one. */
class PortableFile implements OpenFile {
  readonly #file: Deno.FsFile;
  #last: Promise<unknown> = Promise.resolve();
  #waiting = 0;
  #closed = false;

  constructor(file: Deno.FsFile) {
    this.#file = file;
  }

  async read(offset: bigint, length: number, signal: AbortSignal): Promise<Uint8Array<ArrayBuffer>> {
    if (offset + BigInt(length) > MAX_OFFSET) throw new OsError(EINVAL);
    return await this.#inTurn(async () => {
      const buffer = new Uint8Array(length);
      if (!await this.#seek(offset)) return buffer.subarray(0, 0); // no file reaches so far
      for (let fill = 0; fill < length;) {
        signal.throwIfAborted();
        const count = await orOsError(this.#file.read(buffer.subarray(fill)));
        if (count === null) return buffer.subarray(0, fill);
        fill += count;
      }
      return buffer;
    });
  }

  async write(offset: bigint, bytes: Uint8Array<ArrayBuffer>, signal: AbortSignal): Promise<void> {
    await this.#inTurn(async () => {
      if (!await this.#seek(offset)) throw new OsError(EFBIG);
      await writeAll(this.#file, bytes, signal);
    });
  }

  [Symbol.dispose](): void {
    if (this.#closed) return;
    this.#closed = true;
    if (this.#waiting === 0) this.#file.close();
  }

  /** Whether the system takes the offset. */
  async #seek(offset: bigint): Promise<boolean> {
    try {
      await orOsError(this.#file.seek(offset, Deno.SeekMode.Start));
      return true;
    } catch (error) {
      if (error instanceof OsError && error.errno === EINVAL) return false;
      throw error;
    }
  }

  async #inTurn<T>(act: () => Promise<T>): Promise<T> {
    this.#waiting++;
    const turn = this.#last.then(act);
    this.#last = turn.catch(() => {}); // heard by whoever asked
    try {
      return await turn;
    } finally {
      if (--this.#waiting === 0 && this.#closed) this.#file.close();
    }
  }
}
