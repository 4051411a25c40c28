import { EINTR, EINVAL, ENOSYS, EOPNOTSUPP, EXDEV } from "../../linux/errno.ts";
import { copyFileRange, copyFileRangeInBackground, readInBackground } from "../../linux/file_calls.ts";
import { type Bytes, read } from "../../linux/libc.ts";
import { checked } from "../os_error.ts";
import { elsewhere, type Steps } from "../steps.ts";
import { writeAll } from "./write_all.ts";

/** Files of at most so many bytes are copied in the calling thread. */
const AT_ONCE_BYTES = 128 * 1024;
/** Bytes copied at a time on another thread. */
const PIECE_BYTES = 4 * 1024 * 1024;
/** Bytes that go through our memory at a time, where the kernel does not copy by itself. */
const BUFFER_BYTES = 256 * 1024;

/** What the kernel answers where it does not: other file systems, devices, old kernels. */
const CANNOT_COPY = new Set([-EXDEV, -EINVAL, -EOPNOTSUPP, -ENOSYS]);

/** For what is read first of a file that says it is empty: used within one step. */
const firstBytes = new Uint8Array(new ArrayBuffer(4096));

/**
 * Copies from the position of one file to that of another until the first one's end.
 *
 * @param size What the source is said to have, in bytes; files below /proc are said to be empty.
 * @param isRegular Whether the target is a regular file.
 * @throws {ExecError} What the system says.
 */
export function* copyData(
  source: number,
  target: number,
  size: number,
  isRegular: boolean,
  signal: AbortSignal,
): Steps<void> {
  if (size > 0 && isRegular && (yield* withinKernel(source, target, size))) return;
  yield* throughMemory(source, target, signal);
}

/** Whether all is copied. */
function* withinKernel(source: number, target: number, size: number): Steps<boolean> {
  for (let copied = 0;;) {
    const count = size <= AT_ONCE_BYTES
      ? copyFileRange(source, target, AT_ONCE_BYTES)
      : yield* elsewhere(copyFileRangeInBackground(source, target, PIECE_BYTES));
    if (CANNOT_COPY.has(count)) return false;
    if (count === 0) return copied > 0; // below /proc and /sys it can be that nothing is copied although there is something
    if (count !== -EINTR) copied += checked(count);
    yield;
  }
}

function* throughMemory(source: number, target: number, signal: AbortSignal): Steps<void> {
  const count = checked(read(source, firstBytes));
  if (count === 0) return;
  yield* writeWhole(target, firstBytes.slice(0, count), signal);
  const buffer = new Uint8Array(new ArrayBuffer(BUFFER_BYTES));
  for (;;) {
    const count = yield* elsewhere(readInBackground(source, buffer));
    if (count === 0) return;
    if (count !== -EINTR) yield* writeWhole(target, buffer.subarray(0, checked(count)), signal);
    yield;
  }
}

function* writeWhole(target: number, bytes: Bytes, signal: AbortSignal): Steps<void> {
  const written = writeAll(target, bytes, signal);
  if (written !== undefined) yield* elsewhere(written);
}
