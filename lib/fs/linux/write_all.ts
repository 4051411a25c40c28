import { EAGAIN, EINTR } from "../../linux/errno.ts";
import { writeInBackground } from "../../linux/file_calls.ts";
import { type Bytes, write } from "../../linux/libc.ts";
import { ExecError } from "../../errors.ts";
import type { MaybePromise } from "../operations.ts";
import { checked, OsError } from "../os_error.ts";

/** Bytes that are written in the calling thread. The system may make whoever writes more wait for the disk. */
export const AT_ONCE_BYTES = 64 * 1024;
/** Bytes written at a time on another thread; between them it may turn out that nobody wants the rest. */
export const PIECE_BYTES = 1024 * 1024;

/** How long a fifo or terminal may take nothing before the write fails. */
const PATIENCE_MS = 5_000;
const MAX_PAUSE_MS = 64;

/**
 * Writes all bytes where the file was written last.
 *
 * @param fd Non-blocking; stays open until the promise has settled.
 * @throws {ExecError} What the system says; "Resource temporarily unavailable" if whoever reads a fifo does not.
 */
export function writeAll(fd: number, bytes: Bytes, signal: AbortSignal): MaybePromise<void> {
  signal.throwIfAborted();
  if (bytes.length > AT_ONCE_BYTES) return writeOn(fd, bytes, signal);
  for (let at = 0; at < bytes.length;) {
    const rest = bytes.subarray(at);
    const count = write(fd, rest);
    if (count === -EAGAIN || count === -EINTR) return writeOn(fd, rest, signal);
    at += progress(count);
  }
}

async function writeOn(fd: number, bytes: Bytes, signal: AbortSignal): Promise<void> {
  let pauseMs = 1;
  let waitedMs = 0;
  for (let at = 0; at < bytes.length;) {
    signal.throwIfAborted();
    const count = await writeInBackground(fd, bytes.subarray(at, at + PIECE_BYTES));
    if (count === -EINTR) continue;
    if (count === -EAGAIN) {
      if (waitedMs >= PATIENCE_MS) throw new OsError(EAGAIN);
      await pause(pauseMs);
      waitedMs += pauseMs;
      pauseMs = Math.min(2 * pauseMs, MAX_PAUSE_MS);
      continue;
    }
    at += progress(count);
    pauseMs = 1;
    waitedMs = 0;
  }
}

function pause(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, ms));
}

/** @throws {ExecError} On a failure, and when nothing was written for no reason given. */
export function progress(count: number): number {
  if (count === 0) throw new ExecError("internal", "failed to write whole buffer");
  return checked(count);
}
