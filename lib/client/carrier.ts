import type { Clock } from "../clock.ts";
import type { TraceContext } from "../observer.ts";
import type { Connection } from "../rpc/connection.ts";
import type { Telemetry } from "./telemetry.ts";

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
  /**
   * Asks where the environment is now, for a refresh after its executor was replaced on purpose. Only of the relay, which
   * has a registry to ask; within a time limit of its own.
   *
   * @throws {ClientError} The registry's refusal, or why there was no answer.
   */
  readonly lookUp?: ((signal: AbortSignal) => Promise<ExecutorLookup>) | undefined;
  /**
   * Somebody begins to use the carrier; disposing of what is returned says that nothing of it is left. Secrets that belong
   * to the carrier's connections are wiped when nobody uses it any more; who uses it again gets others.
   */
  readonly use?: (() => Disposable) | undefined;
}

/** What a registry says about an environment at one moment. */
export interface ExecutorLookup {
  /** Who executes there; compared with {@linkcode OpenedConnection.executor}. */
  readonly executor: string;
  /** As the carrier that was asked, but its first connection goes to just that executor. */
  readonly carrier: Carrier;
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
  /** Set when the connection follows one that was lost. */
  readonly resuming?: {
    /** {@linkcode OpenedConnection.executor} of the client's first connection: its session is there, and nowhere else. */
    readonly executor: string | undefined;
  };
  /** The client's own, for what a carrier does besides opening a socket. */
  readonly clock?: Clock;
  readonly telemetry?: Telemetry;
  /** Of the client, whole, in milliseconds: for a carrier whose own handshake counts towards it. */
  readonly initializeTimeoutMs?: number;
}

export interface OpenedConnection {
  readonly connection: Connection;
  /** What is left of the initialize timeout when the carrier's own handshake counts towards it. */
  readonly initializeTimeoutMs?: number;
  /** Resolves when what the connection held (a child, a socket) is gone; for a client that ends. */
  readonly gone?: Promise<void>;
  /** Who is at the other end, where that can change while the environment stays the same: on the relay. */
  readonly executor?: string;
  /** The other end does not take more requests at once than the reference's does, whoever it is. */
  readonly keepsRequestLimit?: boolean;
}
