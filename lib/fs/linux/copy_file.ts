import { cString } from "../../linux/cstring.ts";
import * as calls from "../../linux/file_calls.ts";
import { O_CLOEXEC, O_NOCTTY, O_NONBLOCK, O_RDONLY, O_WRONLY } from "../../linux/libc.ts";
import { checked } from "../os_error.ts";
import { notCopied } from "../refusals.ts";
import { closeFile } from "./close_file.ts";
import { copyData } from "./copy_data.ts";
import type { Place } from "./copy_link.ts";
import { emptyFile } from "./empty_file.ts";
import { elsewhere, type Steps } from "../steps.ts";

const READING = O_RDONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC | calls.O_NOFOLLOW;
/** A fifo that nobody reads is refused instead of waited for. Not emptied: it might be the source itself. */
const WRITING = O_WRONLY | calls.O_CREAT | O_NONBLOCK | O_NOCTTY | O_CLOEXEC;

/** Permissions, set-id bits and the sticky bit. */
const MODE_BITS = 0o7777;

const ITSELF = cString("");

/** Filled and read within one step. */
const status = new calls.FileStatus();
const targetStatus = new calls.FileStatus();

/** Opens the destination: a descriptor, or a negated error number. */
export type OpenTarget = (flags: number, mode: number) => Steps<number>;

/**
 * Copies the content of a regular file over another file, which is created if need be, and its mode bits. Copied onto
 * itself, by whatever name, a file stays as it is.
 *
 * @throws {ExecError} What the system says; `invalidRequest` if the source is no regular file.
 */
export function* copyFile(from: Place, openTarget: OpenTarget, signal: AbortSignal): Steps<void> {
  const source = checked(calls.openAt(from.at, from.name, READING));
  let size = 0;
  try {
    checked(calls.statusAt(source, ITSELF, calls.AT_EMPTY_PATH, status));
    if (status.kind !== calls.S_IFREG) throw notCopied();
    const { device, inode } = status;
    const mode = status.mode & MODE_BITS;
    size = status.size;
    const target = checked(yield* openTarget(WRITING, mode));
    try {
      checked(calls.statusAt(target, ITSELF, calls.AT_EMPTY_PATH, targetStatus));
      if (targetStatus.device === device && targetStatus.inode === inode) return;
      const isRegular = targetStatus.kind === calls.S_IFREG;
      if (isRegular) {
        // An empty one as well: it has been written to, and its time tells so.
        const emptied = emptyFile(target, targetStatus.size);
        if (emptied !== undefined) yield* elsewhere(emptied);
        checked(calls.changeMode(target, mode));
      }
      yield* copyData(source, target, size, isRegular, signal);
    } finally {
      closeFile(target, size);
    }
  } finally {
    closeFile(source, size);
  }
}
