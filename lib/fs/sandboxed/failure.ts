/** How it is said that a helper was lost: in the words of the reference, which starts one for each operation. */

import { ExecError } from "../../errors.ts";
import { OsError } from "../os_error.ts";
import type { Failure } from "./messages.ts";

const SIGNALS: ReadonlyMap<number, string> = new Map([
  [1, "SIGHUP"],
  [2, "SIGINT"],
  [3, "SIGQUIT"],
  [4, "SIGILL"],
  [6, "SIGABRT"],
  [7, "SIGBUS"],
  [9, "SIGKILL"],
  [11, "SIGSEGV"],
  [13, "SIGPIPE"],
  [15, "SIGTERM"],
  [31, "SIGSYS"],
]);
const CORE_DUMPED = 0x80;

/**
 * @param status How it ended, e.g. `exit status: 1`.
 * @param reason What it said.
 */
export function helperFailed(status: string, reason: string): ExecError {
  return new ExecError("internal", `fs sandbox helper failed with status ${status}: ${reason}`);
}

/** @param status As `waitpid` tells it; undefined: somebody else has taken it. */
export function statusText(status: number | undefined): string {
  if (status === undefined) return "unknown";
  const signal = status & 0x7f;
  if (signal === 0) return `exit status: ${status >> 8 & 0xff}`;
  const name = SIGNALS.get(signal);
  return `signal: ${signal}${name === undefined ? "" : ` (${name})`}${status & CORE_DUMPED ? " (core dumped)" : ""}`;
}

/** The failure of a deed, as it was where it happened. */
export function failureOf({ kind, message, errno }: Failure): ExecError {
  return errno === null ? new ExecError(kind, message) : new OsError(errno);
}
