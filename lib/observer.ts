/**
 * What an exporter of traces or metrics may hear. The server calls it and knows nothing of what it does; the default
 * does nothing. A method must not throw and must return quickly: it runs where the event happens.
 */

/** W3C trace context as a request carried it; contents are not checked. */
export interface TraceContext {
  readonly traceparent?: string;
  readonly tracestate?: string;
}

export type TransportName = "websocket" | "stdio" | "relay";

/** How a request ended: `disconnected` when the connection went away first. */
export type RequestOutcome = "success" | "error" | "disconnected";

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
}

/** Hears everything, does nothing. */
export const noObserver: Observer = {};
