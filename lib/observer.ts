import type { Log } from "./log.ts";

/**
 * What an exporter of traces or metrics may hear. The server calls it and knows nothing of what it does; the default
 * does nothing. A method must return quickly, since it runs where the event happens. What it throws is told to the log
 * and changes nothing.
 */

/** W3C trace context as a request carried it; contents are not checked. */
export interface TraceContext {
  readonly traceparent?: string;
  readonly tracestate?: string;
}

export type TransportName = "websocket" | "stdio" | "relay";

/** How a request ended: `disconnected` when the connection went away first. */
export type RequestOutcome = "success" | "error" | "disconnected";

export type RemoteOutcome = "success" | "error";

/** What is repeated in remote mode. */
export type RemoteAttempt = "registration" | "rendezvous" | "direct connection";

export interface Observer {
  connectionOpened?(event: { connectionId: number; transport: TransportName }): void;
  /** `reason` is a short phrase for people, never peer-supplied content. */
  connectionEnded?(event: { connectionId: number; transport: TransportName; reason: string }): void;
  /** `requestNumber` pairs the two request events within a connection: ids of the wire need not be unique. */
  requestReceived?(
    event: { connectionId: number; requestNumber: number; method: string; trace: TraceContext | undefined },
  ): void;
  /** The answer has been handed to the connection, or (`disconnected`) will never be. */
  requestAnswered?(
    event: {
      connectionId: number;
      requestNumber: number;
      method: string;
      outcome: RequestOutcome;
      trace: TraceContext | undefined;
    },
  ): void;
  processStarted?(event: { sessionId: string; processId: string; tty: boolean }): void;
  processExited?(event: { sessionId: string; processId: string; exitCode: number }): void;
  processClosed?(event: { sessionId: string; processId: string }): void;
  /**
   * Remote mode: the registry has answered a registration, or could not be asked. The reference's metrics of it, labelled
   * by outcome: `exec_server_remote_registration_total`, `exec_server_remote_registration_duration_seconds`.
   */
  remoteRegistration?(event: { outcome: RemoteOutcome; durationMs: number }): void;
  /**
   * Remote mode: an attempt to connect to the rendezvous has ended. The reference's metrics of it, labelled by outcome:
   * `exec_server_remote_rendezvous_connect_total`, `exec_server_remote_rendezvous_connect_duration_seconds`.
   */
  rendezvousConnect?(event: { outcome: RemoteOutcome; durationMs: number }): void;
  /** Remote mode: the connection is gone. `reason` is one of a closed list, as in the three that follow. */
  rendezvousLost?(event: { reason: string; lastedMs: number }): void;
  /** Remote mode: there will be another attempt. `status` is the HTTP status of the answer that refused the last one. */
  remoteRetry?(event: { what: RemoteAttempt; afterMs: number; reason: string; status: number | undefined }): void;
  /** Remote mode: too many handshakes have failed, for so long all are refused. */
  handshakesPaused?(event: { forMs: number }): void;
  /** Remote mode: somebody wanted a stream and was refused. */
  handshakeRefused?(event: { reason: string }): void;
}

/** Every event: an interface cannot be listed at run time. */
const EVENTS = Object.keys(
  {
    connectionOpened: true,
    connectionEnded: true,
    requestReceived: true,
    requestAnswered: true,
    processStarted: true,
    processExited: true,
    processClosed: true,
    remoteRegistration: true,
    rendezvousConnect: true,
    rendezvousLost: true,
    remoteRetry: true,
    handshakesPaused: true,
    handshakeRefused: true,
  } satisfies Record<keyof Observer, true>,
) as (keyof Observer)[];

/** Hears everything, does nothing. */
export const noObserver: Observer = {};

/**
 * An observer whose faults are told to the log and to nobody else: it watches the server, and must not be able to end a
 * connection, lose an answer or stop a program's events.
 */
export function harmless(observer: Observer, log: Log): Observer {
  const guarded: Record<string, (event: unknown) => void> = {};
  for (const name of EVENTS) {
    if (observer[name] === undefined) continue;
    guarded[name] = (event) => {
      try {
        (observer[name] as (event: unknown) => void).call(observer, event);
      } catch (error) {
        log.error("the observer failed", { event: name, error: error instanceof Error ? error.stack : String(error) });
      }
    };
  }
  return guarded;
}
