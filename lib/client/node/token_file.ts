import { systemErrorText } from "../system_error.ts";

/** Far more than any token has, and than servers take in a header. */
const MAX_BYTES = 65_536;

/**
 * A token in a file, for the option `token` of a connection: read again before every attempt, blanks around it do not
 * count. A file that cannot be read, is empty or has more than one line fails the attempt, with words that name it.
 *
 * @param path Only its owner should be able to read it.
 */
export function tokenFile(path: string | URL): () => Promise<string> {
  return async () => {
    const token = (await textOf(path)).trim();
    if (token === "") throw new Error(`${path} is empty`);
    if (/[\r\n]/.test(token)) throw new Error(`${path} has more than one line`);
    return token;
  };
}

async function textOf(path: string | URL): Promise<string> {
  const { open } = await import("node:fs/promises");
  const bytes = new Uint8Array(MAX_BYTES + 1);
  let length = 0;
  try {
    const file = await open(path);
    try {
      for (let count = 1; count > 0 && length < bytes.length; length += count) {
        count = (await file.read(bytes, length, bytes.length - length)).bytesRead;
      }
    } finally {
      await file.close();
    }
  } catch (error) {
    throw new Error(`${path}: ${systemErrorText(error)}`, { cause: error });
  }
  if (length > MAX_BYTES) throw new Error(`${path} is larger than ${MAX_BYTES} bytes`);
  return new TextDecoder().decode(bytes.subarray(0, length));
}
