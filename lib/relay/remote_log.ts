import { type Clock, systemClock } from "../clock.ts";
import type { Log } from "../log.ts";
import { noObserver, type Observer } from "../observer.ts";
import type { RemoteEvents } from "./events.ts";
import { RefusalLog } from "./refusal_log.ts";

/**
 * Tells an operator's log and an observer what happens to an executor or a forwarder: a line each, except that refused
 * handshakes have a bounded number of lines. Every word comes from a closed list, apart from the environment's id.
 *
 * @param observer Must not throw (`harmless`).
 * @param clock Counts the time in which refusals may have so many lines.
 * @param peer What the lines call the other end of the WebSocket.
 */
export function remoteLog(
  log: Log,
  observer: Observer = noObserver,
  clock: Clock = systemClock,
  peer = "the rendezvous",
): RemoteEvents {
  const refusals = new RefusalLog(log, clock);
  return {
    registration: (event) => observer.remoteRegistration?.(event),
    rendezvousConnect: (event) => observer.rendezvousConnect?.(event),
    registered: ({ environmentId }) => log.info("registered with the registry", { environment: environmentId }),
    connected: () => log.info(`connected to ${peer}`),
    lost(event) {
      observer.rendezvousLost?.(event);
      refusals.tellRest();
      log.warn(`lost ${peer}`, { reason: event.reason, lastedMs: Math.round(event.lastedMs) });
    },
    retrying({ what, afterMs, reason, status, rejection }) {
      observer.remoteRetry?.({ what, afterMs, reason, status });
      log.warn("retrying", { what, afterMs, reason, status, rejection });
    },
    paused(event) {
      observer.handshakesPaused?.(event);
      refusals.tellRest();
      log.warn("too many failed handshakes: all are refused for a while", { forMs: event.forMs });
    },
    handshakeRefused(event) {
      observer.handshakeRefused?.(event);
      refusals.refused(event.reason);
    },
  };
}
