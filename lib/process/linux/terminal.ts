import * as libc from "../../linux/libc.ts";
import type { TerminalSize } from "../child.ts";
import { spawnError } from "./spawn_error.ts";

/** A new terminal that no program uses yet. */
export interface Terminal {
  /** Our side, non-blocking; the caller closes it. */
  readonly master: number;
  /** Path of the program's side, for C. */
  readonly slavePath: libc.Bytes;
}

/** @throws {ExecError} As for every start that the system refuses; nothing is left open. */
export function openTerminal({ rows, columns }: TerminalSize): Terminal {
  const master = libc.openTerminalMaster(libc.O_RDWR | libc.O_NOCTTY | libc.O_CLOEXEC);
  if (master < 0) throw spawnError(-master);
  const failure = Math.min(
    libc.grantTerminal(master),
    libc.unlockTerminal(master),
    libc.setWindowSize(master, rows, columns),
  );
  const slavePath = failure < 0 ? failure : libc.terminalPath(master);
  if (typeof slavePath === "number") {
    libc.close(master);
    throw spawnError(-slavePath);
  }
  libc.setNonBlocking(master);
  return { master, slavePath };
}
