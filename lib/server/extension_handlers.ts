/**
 * `execServer/*`, the methods that are ours alone, but for those of HTTP bodies: where names meet deeds.
 * `docs/extensions.md` describes them.
 */

import { ExecError } from "../errors.ts";
import type { TerminalSize } from "../process/child.ts";
import type { ProcessSummary } from "../process/process_summary.ts";
import { checkedSignalName } from "../process/signal_name.ts";
import type { Params, RequestName } from "../protocol/methods.ts";
import type { Handler } from "./handler.ts";
import type { Starter, StartExtras } from "./process_start.ts";
import type { Sessions } from "./sessions.ts";

type ExtensionName = Exclude<Extract<RequestName, `execServer/${string}`>, `execServer/http/${string}`>;

export interface ExtensionHandlerOptions {
  readonly start: Starter;
  readonly sessions: Sessions;
}

/** Most processes of one answer. */
export const MAX_LISTED = 1024;

export function extensionHandlers(
  { start, sessions }: ExtensionHandlerOptions,
): { readonly [M in ExtensionName]: Handler<M> } {
  return {
    "execServer/process/start": (params, context) => start(params, context, checkedExtras(params)),
    "execServer/process/closeStdin": ({ processId }, { session }) => ({
      status: session.processes.known(processId)?.closeStdin() ?? "unknownProcess",
    }),
    "execServer/process/resize": ({ processId, size }, { session }) => {
      session.processes.get(processId).resize(checkedSize(size));
      return {};
    },
    "execServer/process/signal": ({ processId, signal }, { session }) => ({
      running: session.processes.get(processId).signal(checkedSignalName(signal)),
    }),
    "execServer/process/holdOutput": ({ processId, hold }, { session, signal }) => {
      const process = session.processes.get(processId);
      // Its connection can have ended while this file was loaded: then nobody would let the program go on.
      if (!signal.aborted) process.hold(hold);
      return {};
    },
    "execServer/process/status": ({ processId }, { session }) => session.processes.get(processId).summary,
    "execServer/process/list": (_, { session }) => listed(session.processes.list()),
    "execServer/session/lease": ({ durationMs }, { session }) => ({ durationMs: sessions.lease(session, durationMs) }),
  };
}

function checkedExtras({ tty, terminalSize, timeLimitMs }: Params<"execServer/process/start">): StartExtras {
  if (terminalSize !== null && !tty) throw refused("terminalSize is for a process with a terminal: set tty");
  if (timeLimitMs === 0) throw refused("timeLimitMs must be at least 1; leave it out for no limit");
  return {
    ...(terminalSize === null ? {} : { terminalSize: checkedSize(terminalSize) }),
    ...(timeLimitMs === null ? {} : { timeLimitMs }),
  };
}

function checkedSize(size: TerminalSize): TerminalSize {
  for (const name of ["rows", "columns"] as const) {
    if (size[name] === 0) throw refused(`a terminal cannot have 0 ${name}`);
  }
  return size;
}

/** In the order of the starts. Where there are too many the oldest are left out, those that have ended before others. */
function listed(all: readonly ProcessSummary[]): { processes: readonly ProcessSummary[]; omitted: number } {
  const omitted = Math.max(all.length - MAX_LISTED, 0);
  let ended = Math.min(omitted, all.filter(({ end }) => end !== null).length);
  let running = omitted - ended;
  const processes = all.filter(({ end }) => end === null ? running-- <= 0 : ended-- <= 0);
  return { processes, omitted };
}

function refused(reason: string): ExecError {
  return new ExecError("invalidParams", reason);
}
