import { Base64Writer } from "../base64_writer.ts";
import type { FileContent, NativePath } from "../operations.ts";
import { checkReadLimit } from "../read_limit.ts";
import { openEmptied, openRegular, PIECE_BYTES, writeAll } from "./open_file.ts";
import { orOsError } from "./os_failure.ts";

/** See {@linkcode FileOperations.readFile}. */
export async function readFile(path: NativePath, followSymlinks: boolean, signal: AbortSignal): Promise<FileContent> {
  const { file, info } = await openRegular(path, followSymlinks);
  using _open = file;
  checkReadLimit(info.size);
  const writer = new Base64Writer(info.size);
  const buffer = new Uint8Array(PIECE_BYTES);
  let total = 0;
  for (let rest = 0;;) {
    signal.throwIfAborted();
    const count = await orOsError(file.read(buffer.subarray(rest)));
    const fill = rest + (count ?? 0);
    if (count === null) return total === fill ? buffer.slice(0, fill) : writer.end(buffer.subarray(0, fill));
    total += count;
    checkReadLimit(total); // it may have grown, or tell no size
    if (fill < buffer.length) {
      rest = fill;
      continue;
    }
    const taken = writer.add(buffer);
    buffer.copyWithin(0, taken);
    rest = fill - taken;
  }
}

/** See {@linkcode FileOperations.writeFile}. */
export async function writeFile(
  path: NativePath,
  bytes: Uint8Array<ArrayBuffer>,
  followSymlinks: boolean,
  signal: AbortSignal,
): Promise<void> {
  using file = await openEmptied(path, { followSymlinks, devices: followSymlinks }, signal);
  await writeAll(file, bytes, signal);
}
