/**
 * Methods of our own, all under `execServer/`, announced by one capability. The server never sends anything about them
 * unasked, and stock methods stay as they are. `docs/extensions.md` is their description.
 */

import { boolean, type Decoded, enumeration, i64, nullable, seq, string, u16, u64 } from "../codec.ts";
import { defaulted, optional, struct } from "../struct.ts";
import { startMembers } from "./process.ts";

/** The capability that announces every method of this file. */
export const EXTENSIONS_CAPABILITY = "execServerV1";

/** Of a terminal; neither may be 0. */
export const terminalSize = struct("TerminalSize", { rows: u16, columns: u16 });

/** The parameters of `process/start` and a few more. */
export const extendedStartParams = struct("ExtendedStartParams", {
  ...startMembers,
  /** Null: 24 rows of 80 columns. Only with `tty`. */
  terminalSize: optional(terminalSize),
  /** The program's group is killed after so many milliseconds; null: never. */
  timeLimitMs: optional(u64),
});

export const closeStdinParams = struct("CloseStdinParams", { processId: string });
export const closeStdinResult = struct("CloseStdinResponse", {
  status: enumeration(["accepted", "unknownProcess", "stdinClosed"]),
});

export const resizeParams = struct("ResizeParams", { processId: string, size: terminalSize });

/** `running` is false if the process had ended: then nothing was sent. */
export const extendedSignalParams = struct("ExtendedSignalParams", { processId: string, signal: string });
export const extendedSignalResult = struct("ExtendedSignalResponse", { running: boolean });

export const holdOutputParams = struct("HoldOutputParams", { processId: string, hold: boolean });

const processEnd = struct("ProcessEnd", {
  exitCode: i64,
  /** The signal that ended it, e.g. `SIGKILL`; null: none. */
  signal: nullable(string),
  reason: enumeration(["exited", "signaled", "timeLimit", "terminated"]),
});

/** A process of the session, running or still remembered. */
const processSummary = struct("ProcessSummary", {
  processId: string,
  pid: u64,
  /** Program and arguments, 4096 characters in all; an ellipsis at the end stands for the rest. */
  argv: seq(string),
  tty: boolean,
  /** Whether it runs and something can be written to it. */
  hasStdin: boolean,
  startedAtMs: u64,
  /** Null while it runs. */
  end: nullable(processEnd),
  /** Whether its streams have ended too. */
  closed: boolean,
  sandboxType: defaulted(string, "none"),
});
export type ProcessSummary = Decoded<typeof processSummary>;

export const statusParams = struct("ProcessStatusParams", { processId: string });
export const statusResult = processSummary;
export const listResult = struct("ProcessListResponse", {
  /** In the order of their starts, at most 1024. */
  processes: seq(processSummary),
  /** How many more there are. */
  omitted: defaulted(u64, 0),
});

/** Of a streamed response, by the name that its request gave it. */
export const holdBodyParams = struct("HoldBodyParams", { requestId: string, hold: boolean });
export const cancelBodyParams = struct("CancelBodyParams", { requestId: string });
/** Whether its last delta had not been sent. */
export const bodyResult = struct("BodyResponse", { streaming: boolean });

/**
 * How long the session lives without a connection, and its closed processes can be read, in milliseconds: never less
 * than 80 s, which is also what 0 means. The answer says what was granted, 0 for nothing.
 */
export const leaseParams = struct("LeaseParams", { durationMs: u64 });
export const leaseResult = struct("LeaseResponse", { durationMs: u64 });
