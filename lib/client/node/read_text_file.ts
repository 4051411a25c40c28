/**
 * The text of a file; undefined if there is no such file.
 *
 * @throws Why it cannot be read: an error of the system, or a `TypeError` if it is not UTF-8.
 */
export async function readTextFile(path: string): Promise<string | undefined> {
  const { readFile } = await import("node:fs/promises");
  let bytes: Uint8Array;
  try {
    bytes = await readFile(path);
  } catch (error) {
    if ((error as { code?: unknown }).code === "ENOENT") return undefined;
    throw error;
  }
  return new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(bytes);
}
