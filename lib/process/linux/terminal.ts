import * as libc from "../../linux/libc.ts";
import { errnoText } from "../../linux/errno.ts";
import { ExecError } from "../../errors.ts";

/** The size that every terminal has: the protocol has no way to say another. */
export const TERMINAL_ROWS = 24;
export const TERMINAL_COLUMNS = 80;

/** A new terminal that no program uses yet. */
export interface Terminal {
  /** Our side, non-blocking; the caller closes it. */
  readonly master: number;
  /** Path of the program's side, for C. */
  readonly slavePath: libc.Bytes;
}

/** @throws {ExecError} `spawnFailed` with the reference's words; nothing is left open. */
export function openTerminal(): Terminal {
  const master = libc.openTerminalMaster(libc.O_RDWR | libc.O_NOCTTY | libc.O_CLOEXEC);
  if (master < 0) throw failedToOpen(-master);
  const failure = Math.min(
    libc.grantTerminal(master),
    libc.unlockTerminal(master),
    libc.setWindowSize(master, TERMINAL_ROWS, TERMINAL_COLUMNS),
  );
  const slavePath = failure < 0 ? failure : libc.terminalPath(master);
  if (typeof slavePath === "number") {
    libc.close(master);
    throw failedToOpen(-slavePath);
  }
  libc.setNonBlocking(master);
  return { master, slavePath };
}

/** Rust's names for the errors that opening a terminal can meet; all others are `Uncategorized` there. */
const ERROR_KINDS: Readonly<Record<number, string>> = {
  2: "NotFound",
  12: "OutOfMemory",
  13: "PermissionDenied",
  28: "StorageFull",
};

function failedToOpen(errno: number): ExecError {
  const kind = ERROR_KINDS[errno] ?? "Uncategorized";
  return new ExecError(
    "spawnFailed",
    `failed to openpty: Os { code: ${errno}, kind: ${kind}, message: "${errnoText(errno)}" }`,
  );
}
