/**
 * The text of a file; undefined if there is no such file.
 *
 * @param maxBytes A larger file is refused.
 * @throws Why it cannot be read: an error of the system, or a `TypeError` if it is not UTF-8.
 */
export async function readTextFile(path: string, maxBytes: number): Promise<string | undefined> {
  const { open, stat } = await import("node:fs/promises");
  try {
    // To open one of these would wait for a writer, without end and without a way to give up.
    if ((await stat(path)).isFIFO()) throw new Error("it is a named pipe");
    const file = await open(path);
    try {
      const bytes = new Uint8Array(maxBytes + 1);
      let length = 0;
      for (let count = 1; count > 0 && length < bytes.length; length += count) {
        count = (await file.read(bytes, length, bytes.length - length)).bytesRead;
      }
      if (length > maxBytes) throw new Error(`it is larger than ${maxBytes} bytes`);
      return new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(bytes.subarray(0, length));
    } finally {
      await file.close();
    }
  } catch (error) {
    if ((error as { code?: unknown }).code === "ENOENT") return undefined;
    throw error;
  }
}
