import { abortable } from "../../abortable.ts";
import type { ExecProcess } from "../../client/process.ts";
import type { Copying } from "./copying.ts";
import { lines, packArguments, unpackArguments, unpackFailure } from "./local_tar.ts";
import { childUri } from "./remote_path.ts";
import { CopyError } from "./target.ts";

/** One write to the other side's tar. A round trip is paid for each, and the server may queue a hundred. */
const WRITE_BYTES = 512 * 1024;
const MAX_STDERR_CHARS = 8192;
/** The archive's name in a directory of our own. */
const ARCHIVE = "archive.tar";

type Bytes = Uint8Array<ArrayBuffer>;

/**
 * Unpacks an archive on the other side. Where the server can end a program's input, tar reads it as it comes; otherwise
 * it goes to a file first, which takes its space for as long.
 *
 * @param directory The absolute path of what to unpack into, as the other side says it.
 * @param staging The URI of a directory of ours.
 * @throws {CopyError} In tar's own words.
 */
export async function unpackThere(
  copying: Copying,
  archive: AsyncIterable<Bytes>,
  directory: string,
  staging: string,
): Promise<void> {
  const { far, programs, hasExtensions, signal } = copying;
  if (!hasExtensions) {
    const file = childUri(staging, ARCHIVE);
    await far.environment.files.writeFile(file, ReadableStream.from(archive), { signal });
    const result = await programs.run(unpackArguments(directory, programs.path(file)), signal);
    await far.environment.files.remove(file, { signal });
    if (result === undefined) throw new CopyError("tar could not be started on the other side");
    if (result.code !== 0) throw unpackFailure(result.stderrText, `exit code ${result.code}`);
    return;
  }
  const tar = await far.environment.start({ argv: unpackArguments(directory), stdin: true, signal });
  await using _end = endInTime(tar, far.over);
  const stderr = tail(tar.stderr);
  let failure: unknown;
  try {
    for await (const piece of inPieces(archive, WRITE_BYTES)) await tar.write(piece, { signal });
    await tar.closeStdin({ signal });
  } catch (error) {
    signal.throwIfAborted();
    failure = error; // tar may have ended, and then has something to say
  }
  if (failure !== undefined) await tar.terminate({ signal });
  const { code } = await abortable(tar.exited, signal);
  if (failure !== undefined && (await stderr).trim() === "") throw failure;
  if (code !== 0) throw unpackFailure(await stderr, `exit code ${code}`);
}

/**
 * An archive of a directory of the other side. With a server that can hold a program back it comes as tar writes it;
 * otherwise from a file, so that it waits there and not in our memory.
 *
 * @param makeStaging Makes a directory of ours for that file; its URI.
 */
export async function* packThere(
  copying: Copying,
  directory: string,
  makeStaging: () => Promise<string>,
): AsyncGenerator<Bytes, void, void> {
  const { far, programs, hasExtensions, report, signal } = copying;
  if (!hasExtensions) {
    const file = childUri(await makeStaging(), ARCHIVE);
    const [program, ...args] = packArguments(directory);
    const result = await programs.run(
      [program, ...args.map((arg) => arg === "-" ? programs.path(file)! : arg)],
      signal,
    );
    if (result === undefined) throw new CopyError("tar could not be started on the other side");
    if (result.code !== 0) report.complain(lines(result.stderrText, `tar ended with exit code ${result.code}`));
    yield* await far.environment.files.open(file, { signal });
    return;
  }
  const tar = await far.environment.start({ argv: packArguments(directory), signal });
  await using _end = endInTime(tar, far.over);
  const stderr = tail(tar.stderr);
  yield* untilAborted(tar, signal);
  const { code } = await abortable(tar.exited, signal);
  if (code !== 0) report.complain(lines(await stderr, `tar ended with exit code ${code}`));
}

/** Ends a program with the scope; that is not waited for when nothing is any more. */
function endInTime(process: ExecProcess, over: AbortSignal): AsyncDisposable {
  return {
    async [Symbol.asyncDispose]() {
      try {
        await abortable(Promise.resolve(process[Symbol.asyncDispose]()), over);
      } catch (error) {
        if (!over.aborted) throw error;
      }
    },
  };
}

/** What a program writes; an interruption ends the waiting for more of it. */
async function* untilAborted(process: ExecProcess, signal: AbortSignal): AsyncGenerator<Bytes, void, void> {
  const reader = process.stdout.getReader();
  const abort = () => void reader.cancel(signal.reason).catch(() => {});
  signal.addEventListener("abort", abort, { once: true });
  try {
    for (;;) {
      signal.throwIfAborted();
      const { done, value } = await reader.read();
      signal.throwIfAborted();
      if (done) return;
      yield value;
    }
  } finally {
    signal.removeEventListener("abort", abort);
    await reader.cancel();
  }
}

/** The same bytes in pieces of `size`, the last one excepted. */
async function* inPieces(archive: AsyncIterable<Bytes>, size: number): AsyncGenerator<Bytes, void, void> {
  let piece = new Uint8Array(size);
  let used = 0;
  for await (const part of archive) {
    for (let rest = part; rest.length > 0;) {
      const fitting = rest.subarray(0, size - used);
      piece.set(fitting, used);
      used += fitting.length;
      rest = rest.subarray(fitting.length);
      if (used < size) continue;
      yield piece;
      [piece, used] = [new Uint8Array(size), 0];
    }
  }
  if (used > 0) yield piece.subarray(0, used);
}

/** The end of what a program complains of; the loss of the link is told elsewhere. */
async function tail(stream: ReadableStream<Bytes>): Promise<string> {
  let text = "";
  try {
    for await (const piece of stream.pipeThrough(new TextDecoderStream())) {
      text = (text + piece).slice(-MAX_STDERR_CHARS);
    }
  } catch {
    return text;
  }
  return text;
}
