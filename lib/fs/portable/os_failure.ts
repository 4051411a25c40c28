/** What the runtime throws → what the wire has for it. */

import { ExecError } from "../../errors.ts";
import { OsError } from "../os_error.ts";

/** Linux's numbers for the names that the runtime gives errors on every system. */
const NUMBERS: Readonly<Record<string, number>> = {
  EPERM: 1,
  ENOENT: 2,
  EINTR: 4,
  EIO: 5,
  ENXIO: 6,
  EBADF: 9,
  EAGAIN: 11,
  ENOMEM: 12,
  EACCES: 13,
  EBUSY: 16,
  EEXIST: 17,
  EXDEV: 18,
  ENODEV: 19,
  ENOTDIR: 20,
  EISDIR: 21,
  EINVAL: 22,
  ENFILE: 23,
  EMFILE: 24,
  ETXTBSY: 26,
  EFBIG: 27,
  ENOSPC: 28,
  ESPIPE: 29,
  EROFS: 30,
  EMLINK: 31,
  ENAMETOOLONG: 36,
  ENOSYS: 38,
  ENOTEMPTY: 39,
  ELOOP: 40,
  EOPNOTSUPP: 95,
  ENOTSUP: 95,
  ESTALE: 116,
  EDQUOT: 122,
};

/** For errors that have no name, by their class. */
const CLASSES: readonly (readonly [new (message: string) => Error, number])[] = [
  [Deno.errors.NotFound, 2],
  [Deno.errors.InvalidData, 2], // a name that is no text leads nowhere
  [Deno.errors.PermissionDenied, 13],
  [Deno.errors.AlreadyExists, 17],
  [Deno.errors.NotADirectory, 20],
  [Deno.errors.IsADirectory, 21],
  [Deno.errors.FilesystemLoop, 40],
];

/** Up to here all Unix systems count alike, but for number 11. */
const COMMON_NUMBERS_END = 34;
const NUMBER_IN_MESSAGE = /^.*?\(os error (\d+)\)/s;

/** Linux's number for what was thrown; null if it is none of the errors that it has. */
export function errnoOf(error: unknown): number | null {
  if (!(error instanceof Error)) return null;
  const code = "code" in error && typeof error.code === "string" ? error.code : "";
  if (Object.hasOwn(NUMBERS, code)) return NUMBERS[code]!;
  const known = CLASSES.find(([type]) => error instanceof type);
  if (known !== undefined) return known[1];
  const number = Number(NUMBER_IN_MESSAGE.exec(error.message)?.[1]);
  return Deno.build.os !== "windows" && number <= COMMON_NUMBERS_END && number !== 11 ? number : null;
}

/** Passes on what the runtime promises, and its failures as `ExecError`. One without a number stays what it is. */
export async function orOsError<T>(promise: Promise<T>): Promise<T> {
  try {
    return await promise;
  } catch (error) {
    const errno = errnoOf(error);
    if (errno !== null) throw new OsError(errno);
    const words = error instanceof Error ? NUMBER_IN_MESSAGE.exec(error.message)?.[0] : undefined;
    throw words === undefined ? error : new ExecError("internal", words, { cause: error }); // without path and operation
  }
}

/** The same; null if there is nothing of that name. */
export async function orNull<T>(promise: Promise<T>): Promise<T | null> {
  try {
    return await orOsError(promise);
  } catch (error) {
    if (error instanceof OsError && error.errno === NUMBERS["ENOENT"]) return null;
    throw error;
  }
}
