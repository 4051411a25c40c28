/**
 * Methods of our own, all under `execServer/`, announced by one capability. The server never sends anything about them
 * unasked, and stock methods stay as they are. `docs/extensions.md` is their description.
 */

import { boolean, type Codec, type Decoded, enumeration, i64, nullable, seq, string, u16, u64 } from "../codec.ts";
import { defaulted, optional, struct } from "../struct.ts";
import { startParams } from "./process.ts";

/** The capability that announces every method of this file. */
export const EXTENSIONS_CAPABILITY = "execServerV1";

/** Of a terminal; neither may be 0. */
export const terminalSize = struct("TerminalSize", { rows: u16, columns: u16 });

const extraStartParams = struct("StartExtras", {
  /** Null: 24 rows of 80 columns. Only with `tty`. */
  terminalSize: optional(terminalSize),
  /** The program's group is killed after so many milliseconds; null: never. */
  timeLimitMs: optional(u64),
});

type ExtendedStart = Decoded<typeof startParams> & Decoded<typeof extraStartParams>;

/** The parameters of `process/start` and a few more, in one object. */
export const extendedStartParams: Codec<ExtendedStart> = {
  decode: (json, buffered) => ({ ...startParams.decode(json, buffered), ...extraStartParams.decode(json, buffered) }),
  encode: (value) => ({
    ...startParams.encode(value) as Record<string, unknown>,
    ...extraStartParams.encode(value) as Record<string, unknown>,
  }),
};

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
  /** Program and arguments, cut after 4096 characters in all. */
  argv: seq(string),
  tty: boolean,
  /** Whether something can be written to it. */
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
export const listResult = struct("ProcessListResponse", { processes: seq(processSummary) });

/** How long the session lives without a connection, in milliseconds; the answer says what was granted. */
export const leaseParams = struct("LeaseParams", { durationMs: u64 });
export const leaseResult = struct("LeaseResponse", { durationMs: u64 });
