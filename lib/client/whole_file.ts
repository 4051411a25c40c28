import { Base64Error } from "../base64.ts";
import { ClientError } from "./client_error.ts";
import { FileError } from "./file_error.ts";
import type { FileHandle } from "./file_handle.ts";
import { FILE_BLOCK_BYTES } from "./limits.ts";

/**
 * All of an open file, by blocks.
 *
 * @param size How long it probably is.
 * @throws {FileError} It does not fit in memory. {@linkcode ClientError}, or the signal's reason.
 */
export async function readWhole(
  handle: FileHandle,
  size: number,
  signal: AbortSignal = new AbortController().signal,
): Promise<Uint8Array<ArrayBuffer>> {
  let whole = room(size);
  let length = 0;
  for (;;) {
    const { chunk, eof } = await handle.read(BigInt(length), FILE_BLOCK_BYTES, signal);
    if (length + chunk.length > whole.length) {
      const larger = room(Math.max(length + chunk.length, 2 * whole.length));
      larger.set(whole);
      whole = larger;
    }
    whole.set(chunk, length);
    length += chunk.length;
    if (eof) return length === whole.length ? whole : whole.slice(0, length);
  }
}

function room(bytes: number): Uint8Array<ArrayBuffer> {
  try {
    return new Uint8Array(bytes);
  } catch (error) {
    throw new FileError("Other", `a file of ${bytes} bytes does not fit in memory; open gives it as a stream`, {
      cause: error,
    });
  }
}

export function tooLargeToRead(size: number, limit: number): FileError {
  const why = "and exec-server cannot read it by blocks without following links, or in this sandbox";
  return new FileError("Other", `${size} bytes cannot be read: a message carries at most ${limit} bytes of it, ${why}`);
}

export function tooLarge(what: string, limit: number): FileError {
  const why = "and exec-server does not support writable file streams";
  return new FileError("Other", `${what} cannot be written: a message carries at most ${limit} bytes of it, ${why}`);
}

/** The failure of `fs/readFile`, if this is what it was. */
export function invalidBase64(error: unknown): FileError | undefined {
  if (!(error instanceof ClientError) || error.kind !== "json") return undefined;
  const defect = (error.cause as Error | undefined)?.cause;
  if (!(defect instanceof Base64Error)) return undefined;
  const text = `remote fs/readFile returned invalid base64 dataBase64: ${defect.message}`;
  return new FileError("Other", text, { cause: error });
}
