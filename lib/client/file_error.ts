import { ClientError, INVALID_REQUEST, isTransportClosed, NOT_FOUND } from "./client_error.ts";
import type { FileErrorKind } from "./files.ts";

export interface FileErrorOptions extends ErrorOptions {
  readonly code?: string;
}

/** How a file operation failed, in the words of the machine that has the file. */
export class FileError extends Error {
  override readonly name = "FileError";
  /** The system's own name for it, `ENOENT`, where its number was told and is a common one. */
  readonly code: string | undefined;

  constructor(readonly kind: FileErrorKind, message: string, options: FileErrorOptions = {}) {
    super(message, options);
    this.code = options.code;
  }
}

/**
 * What a caller of the files is told of a failure. Defects of our own pass as they are.
 *
 * @param platformOs Whose numbers the texts hold; null: not known.
 */
export function fileError(error: unknown, platformOs: string | null): unknown {
  if (error instanceof FileError || !(error instanceof ClientError)) return error;
  if (isTransportClosed(error)) return new FileError("BrokenPipe", "exec-server transport closed", { cause: error });
  if (error.kind !== "server") return new FileError("Other", error.message, { cause: error });
  const message = error.serverMessage ?? error.message;
  const code = systemName(message, platformOs);
  const kind = error.code === NOT_FOUND ? "NotFound" : error.code === INVALID_REQUEST ? "InvalidInput" : "Other";
  return new FileError(kind, message, { cause: error, ...(code === undefined ? {} : { code }) });
}

function systemName(message: string, platformOs: string | null): string | undefined {
  const number = /\(os error (\d+)\)$/.exec(message)?.[1];
  if (number === undefined) return undefined;
  return (platformOs === "windows" ? WINDOWS : UNIX)[Number(number)];
}

/**
 * Linux's and macOS's numbers together: where the two differ, the other's number means nothing that a file operation
 * fails with.
 */
const UNIX: Readonly<Record<number, string>> = {
  1: "EPERM",
  2: "ENOENT",
  4: "EINTR",
  5: "EIO",
  6: "ENXIO",
  9: "EBADF",
  11: "EAGAIN",
  12: "ENOMEM",
  13: "EACCES",
  16: "EBUSY",
  17: "EEXIST",
  18: "EXDEV",
  19: "ENODEV",
  20: "ENOTDIR",
  21: "EISDIR",
  22: "EINVAL",
  23: "ENFILE",
  24: "EMFILE",
  26: "ETXTBSY",
  27: "EFBIG",
  28: "ENOSPC",
  29: "ESPIPE",
  30: "EROFS",
  31: "EMLINK",
  35: "EAGAIN",
  36: "ENAMETOOLONG",
  39: "ENOTEMPTY",
  40: "ELOOP",
  62: "ELOOP",
  63: "ENAMETOOLONG",
  66: "ENOTEMPTY",
  69: "EDQUOT",
  70: "ESTALE",
  95: "EOPNOTSUPP",
  102: "EOPNOTSUPP",
  116: "ESTALE",
  122: "EDQUOT",
};

/** Windows has numbers of its own (winerror.h); our server tells Linux's there too. */
const WINDOWS: Readonly<Record<number, string>> = {
  ...UNIX,
  3: "ENOENT",
  5: "EACCES",
  32: "EBUSY",
  80: "EEXIST",
  112: "ENOSPC",
  145: "ENOTEMPTY",
  183: "EEXIST",
  206: "ENAMETOOLONG",
  267: "ENOTDIR",
};
