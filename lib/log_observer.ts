import type { Log } from "./log.ts";
import type { Observer } from "./observer.ts";

/** Of a name that a client made up, this many UTF-16 code units go into a line at most. */
const MAX_NAME_LENGTH = 100;

/**
 * Writes a line at level debug for every request, every program, and every answer of a registry or rendezvous: names, ids
 * and outcomes, no contents. What else happens in remote mode has lines of its own.
 */
export function logObserver(log: Log): Observer {
  const shown = (name: string) => name.slice(0, MAX_NAME_LENGTH);
  return {
    requestReceived: ({ connectionId, requestNumber, method }) =>
      log.debug("request received", { connection: connectionId, request: requestNumber, method: shown(method) }),
    requestAnswered: ({ connectionId, requestNumber, method, outcome }) =>
      log.debug("request answered", {
        connection: connectionId,
        request: requestNumber,
        method: shown(method),
        outcome,
      }),
    processStarted: ({ sessionId, processId, tty }) =>
      log.debug("process started", { session: sessionId, process: shown(processId), tty }),
    processExited: ({ sessionId, processId, exitCode }) =>
      log.debug("process exited", { session: sessionId, process: shown(processId), exitCode }),
    processClosed: ({ sessionId, processId }) =>
      log.debug("process closed", { session: sessionId, process: shown(processId) }),
    remoteRegistration: ({ outcome, durationMs }) =>
      log.debug("registration answered", { outcome, durationMs: Math.round(durationMs) }),
    rendezvousConnect: ({ outcome, durationMs }) =>
      log.debug("rendezvous answered", { outcome, durationMs: Math.round(durationMs) }),
  };
}
