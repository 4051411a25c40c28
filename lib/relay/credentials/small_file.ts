/** A small regular file, as it was when it was read. */
export interface SmallFile {
  readonly bytes: Uint8Array<ArrayBuffer>;
  /** The permission bits; null where the system has none (Windows). */
  readonly mode: number | null;
}

/** The file cannot be used; the message says why, without its path and without anything of what is in it. */
export class UnusableFile extends Error {
  override readonly name = "UnusableFile";

  /** @param missing There is no such file. */
  constructor(message: string, readonly missing: boolean, options?: ErrorOptions) {
    super(message, options);
  }
}

/**
 * Reads a file whole; links are followed. What is not a regular file is not even opened: a pipe would have us wait.
 *
 * @param maxBytes A larger one is refused, and hardly more of it read.
 * @throws {UnusableFile}
 */
export async function readSmallFile(path: string, maxBytes: number): Promise<SmallFile> {
  try {
    requireRegular(await Deno.stat(path));
    using file = await Deno.open(path);
    // Of the file that is open, whatever the path names by now.
    const info = await file.stat();
    requireRegular(info);
    const buffer = new Uint8Array(Math.min(info.size, maxBytes) + 1);
    let length = 0;
    for (let read; length < buffer.length && (read = await file.read(buffer.subarray(length))) !== null;) {
      length += read;
    }
    if (length === buffer.length) throw new UnusableFile(`it has more than ${maxBytes} bytes`, false);
    return { bytes: buffer.subarray(0, length), mode: info.mode === null ? null : info.mode & 0o7777 };
  } catch (error) {
    if (error instanceof UnusableFile) throw error;
    throw new UnusableFile(systemWords(error), error instanceof Deno.errors.NotFound, { cause: error });
  }
}

function requireRegular(info: Deno.FileInfo): void {
  if (info.isFile) return;
  throw new UnusableFile(info.isDirectory ? "it is a directory" : "it is not a regular file", false);
}

/** What the system says, e.g. `Permission denied (os error 13)`, without what the platform adds to it. */
export function systemWords(error: unknown): string {
  const message = error instanceof Error ? error.message : String(error);
  return message.match(/^.*?\(os error \d+\)/)?.[0] ?? message;
}
