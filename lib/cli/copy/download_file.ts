import { FileError } from "../../client/file_error.ts";
import type { FileInfo } from "../../client/files.ts";
import type { Copying } from "./copying.ts";
import { keyOf, PartialFile } from "./partial_file.ts";
import { CopyError } from "./target.ts";

/** Lost connections in a row, without a byte in between, after which a download gives up. */
const MAX_FRUITLESS_ATTEMPTS = 3;

export interface Download {
  /** A URI, and how people are shown it. */
  readonly from: string;
  readonly shown: string;
  /** Where it goes: nothing or a regular file is there. `name` is its last component. */
  readonly to: string;
  readonly name: string;
}

/**
 * Copies one file to this machine. It takes the target's name when it is whole. What an interruption or a lost
 * connection leaves is continued, now or by the next copy of the same file; every other failure leaves nothing.
 *
 * @throws {CopyError} If the source shrank meanwhile.
 */
export async function downloadFile(copying: Copying, { from, shown, to, name }: Download): Promise<void> {
  const { far, programs, progress, report, signal } = copying;
  const before = await far.environment.files.stat(from, { signal });
  await using partial = await PartialFile.open(to, name, await contentKey(copying.origin, from, before));
  // Files of /proc and the like say that they are empty, and are not.
  const end = before.size === 0 ? Infinity : before.size;
  if (partial.length > end) await partial.clear();
  progress.begin(shown, before.size === 0 ? undefined : before.size);
  progress.add(partial.length, true);
  const mode = await programs.mode(from, signal);
  if (mode === undefined) report.note("permission bits were not kept: the other machine does not tell them");
  try {
    await transfer(copying, from, before, partial, end);
  } catch (error) {
    if (signal.aborted || isLost(error)) await partial.keep();
    throw error;
  }
  if (end !== Infinity && partial.length < end) {
    throw new CopyError(`${shown} became shorter while it was copied (${partial.length} of ${end} bytes are left)`);
  }
  if (!isSame(before, await far.environment.files.stat(from, { signal }))) {
    report.add("changed", shown, "changed while it was copied, so the copy may mix old and new");
  }
  await partial.commit(mode);
  report.files++;
}

/** What the partial file's name stands for; undefined: nothing says whether the content is still the same. */
async function contentKey(origin: string, from: string, { size, mtime }: FileInfo): Promise<string | undefined> {
  if (size === 0 || mtime === null || mtime.getTime() === 0) return undefined;
  return await keyOf(origin, from, size, mtime.getTime());
}

/** Reads on from where the partial file ends; over lost connections too, as long as the file stays the same. */
async function transfer(
  copying: Copying,
  from: string,
  before: FileInfo,
  partial: PartialFile,
  end: number,
): Promise<void> {
  const { files } = copying.far.environment;
  for (let fruitless = 0; partial.length < end;) {
    const start = partial.length;
    try {
      const stream = await files.open(from, { offset: start, signal: copying.signal });
      for await (const block of stream) {
        const part = block.subarray(0, Math.min(block.length, end - partial.length));
        await partial.write(part);
        copying.report.bytes += part.length;
        copying.progress.add(part.length);
        if (partial.length === end) break; // it may have grown: what was there when we began is copied
      }
      return;
    } catch (error) {
      fruitless = partial.length > start ? 0 : fruitless + 1;
      if (!isLost(error) || end === Infinity || fruitless === MAX_FRUITLESS_ATTEMPTS) throw error;
      // Waits for the connection to come back; if it does not, this says so.
      if (!isSame(before, await files.stat(from, { signal: copying.signal }))) throw error;
    }
  }
}

function isSame(before: FileInfo, now: FileInfo): boolean {
  return before.size === now.size && before.mtime?.getTime() === now.mtime?.getTime();
}

/** Whether the link was lost, rather than an answer given. */
function isLost(error: unknown): boolean {
  return error instanceof FileError && error.kind === "BrokenPipe";
}
