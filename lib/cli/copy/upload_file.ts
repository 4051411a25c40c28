import { FILE_BLOCK_BYTES } from "../../client/limits.ts";
import type { Copying } from "./copying.ts";
import { partialName, randomKey } from "./partial_file.ts";
import { TIDY_MS } from "./patience.ts";
import { childUri, parentUri, shownPath } from "./remote_path.ts";
import { CopyError } from "./target.ts";
import { wordsOf } from "./walk_words.ts";

/** Permission bits. */
const READABLE_BY_ALL = 0o044, PRIVATE = 0o600;

/** Where the bytes of an upload come from. */
export interface UploadSource {
  readonly shown: string;
  /** Undefined: not known before its end. */
  readonly size: number | undefined;
  /** Permission bits for the copy; undefined: those of what it replaces, or of a new file. */
  readonly mode: number | undefined;
  /** The next piece; null at the end. */
  read(): Promise<Uint8Array<ArrayBuffer> | null>;
}

/**
 * The pieces of an open file.
 *
 * @param size Its bytes when the copy began: one that grows as fast as it is read would have no end. Undefined: not known.
 */
export function readBlocks(file: Deno.FsFile, size = Infinity): UploadSource["read"] {
  let left = size;
  return async () => {
    if (left === 0) return null;
    // A new one each time: the last one may still be on its way.
    const block = new Uint8Array(Math.min(FILE_BLOCK_BYTES, left));
    const length = await file.read(block);
    if (length === null) return null;
    left -= length;
    return block.subarray(0, length);
  };
}

/**
 * Copies one file to the environment. It is written under another name beside its target and renamed when it is whole;
 * whatever goes wrong, the other name is removed again.
 *
 * @throws {CopyError} If the source shrank meanwhile.
 * @param to A URI; nothing or a regular file is there.
 * @param replaces Whether there is one.
 */
export async function uploadFile(
  copying: Copying,
  source: UploadSource,
  to: string,
  replaces: boolean,
): Promise<void> {
  const { far, programs, report, progress, signal } = copying;
  const { files } = far.environment;
  const last = to.slice(to.lastIndexOf("/") + 1);
  const temporary = childUri(parentUri(to), partialName(safeName(last), randomKey()));
  const mode = source.mode ?? (replaces ? await programs.mode(to, signal) : undefined);
  progress.begin(source.shown, source.size);
  let settled = false;
  try {
    if (mode !== undefined && (mode & READABLE_BY_ALL) !== READABLE_BY_ALL) await makePrivate(copying, temporary);
    const length = await write(copying, source, temporary);
    if (source.size !== undefined && length < source.size) {
      throw new CopyError(
        `${source.shown} became shorter while it was copied (${length} of ${source.size} bytes are left)`,
      );
    }
    const { size } = await files.stat(temporary, { signal });
    if (size !== length) {
      throw new CopyError(`${shownPath(temporary)} has ${size} bytes instead of the ${length} that were written`);
    }
    if (mode !== undefined && !await programs.setMode(temporary, mode, signal)) {
      report.note("permission bits were not kept: the other machine has no chmod that could set them");
    }
    settled = await programs.rename(temporary, to, signal);
    if (!settled) await replaceByCopy(copying, temporary, to);
    report.files++;
  } finally {
    if (!settled) await removeRemote(copying, temporary);
  }
}

/** What not everybody may read, nobody else reads while it is on its way either. Writing to a file keeps its bits. */
async function makePrivate({ far, programs, signal }: Copying, uri: string): Promise<void> {
  await far.environment.files.writeFile(uri, new Uint8Array(), { signal });
  await programs.setMode(uri, PRIVATE, signal);
}

/** @returns How many bytes there were. */
async function write(copying: Copying, source: UploadSource, to: string): Promise<number> {
  const { files } = copying.far.environment;
  const { signal } = copying;
  let length = 0;
  const pieces = new ReadableStream<Uint8Array<ArrayBuffer>>({
    async pull(controller) {
      signal.throwIfAborted();
      const piece = await source.read();
      if (piece === null) return controller.close();
      length += piece.length;
      copying.report.bytes += piece.length;
      copying.progress.add(piece.length);
      controller.enqueue(piece);
    },
  }, { highWaterMark: 0 });
  await files.writeFile(to, pieces, { signal });
  return length;
}

/**
 * Where nothing can rename, the other machine copies the whole file over the target: quickly and without us, but not at
 * once. A copy that fails half way, as on a full disk, is removed, and what was there before is lost.
 */
async function replaceByCopy({ far, report }: Copying, temporary: string, to: string): Promise<void> {
  const { files } = far.environment;
  const before = await far.stat(to);
  try {
    await files.copy(temporary, to);
  } catch (error) {
    const now = await far.stat(to);
    const touched = now !== undefined &&
      (before === undefined || before.size !== now.size || before.mtime?.getTime() !== now.mtime?.getTime());
    if (touched) await files.remove(to, { force: true });
    throw error;
  }
  report.note(
    "not put in place at once: there is no mv for it on the other machine, so the finished file was copied over its target",
  );
}

/** Removes what we have begun on the other side, also when we are being interrupted; what stays is reported. */
export async function removeRemote(
  { far, report }: Pick<Copying, "far" | "report">,
  uri: string,
  options: { recursive?: boolean } = {},
): Promise<void> {
  const limit = AbortSignal.timeout(TIDY_MS);
  try {
    const signal = AbortSignal.any([limit, far.over]);
    await far.environment.files.remove(uri, { force: true, signal, ...options });
  } catch (error) {
    const why = limit.aborted ? `no answer within ${TIDY_MS / 1000} s` : wordsOf(error);
    report.note(`${far.shown(uri)} is left behind: ${why}`);
  }
}

/** An encoded name without its escapes, which are only there for people to recognise it. */
function safeName(encoded: string): string {
  return encoded.replaceAll(/%[0-9A-F]{2}/gi, "_");
}
