import type { TraceContext } from "../observer.ts";
import type { Connection } from "../rpc/connection.ts";

/** How the connections of one client come about: by a WebSocket URL, a command, or the relay. */
export interface Carrier {
  /** How error texts call the other side, e.g. `exec-server websocket ws://127.0.0.1:8765`. */
  readonly label: string;
  /** How a lost connection may be followed by another; null: it cannot, and its end is final. */
  readonly resume: ResumeStrategy | null;
  /** Whether the lazy client may make a fresh client after a failed one. */
  readonly renewable: boolean;
  /**
   * Opens one connection, within limits of its own.
   *
   * @throws {ClientError} `retryable` says whether another attempt may succeed.
   */
  open(options: OpenOptions): Promise<OpenedConnection>;
}

export interface ResumeStrategy {
  /**
   * The pause after a failed attempt, in milliseconds.
   *
   * @param attempt From 0.
   */
  pauseMs(sessionId: string, attempt: number): number;
}

export interface OpenOptions {
  /** Gives the attempt up; nothing stays open then. */
  readonly signal: AbortSignal;
  readonly trace?: TraceContext;
}

export interface OpenedConnection {
  readonly connection: Connection;
  /** What is left of the initialize timeout when the carrier's own handshake counts towards it. */
  readonly initializeTimeoutMs?: number;
  /** Resolves when what the connection held (a child, a socket) is gone; for a client that ends. */
  readonly gone?: Promise<void>;
}
