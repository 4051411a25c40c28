/** The seam between the relay's streams and the WebSocket that carries them all. */

/**
 * A frame that has so many bytes of its buffer before it, and up to three behind it, is sent without another copy: there is
 * room for the WebSocket's header, and for words.
 */
export const FRAME_ROOM_BYTES = 16;

/** One open WebSocket to a rendezvous. It pings by itself. */
export interface RelaySocket {
  /** Starts the delivery; call it once, in the turn in which the socket was got. */
  start(receiver: SocketReceiver): void;
  /** Queues one binary message; dropped silently once the socket has ended. The whole buffer is the socket's from here on. */
  send(frame: Uint8Array<ArrayBuffer>): void;
  /** Bytes that were sent and that the system has not taken yet. */
  readonly bufferedBytes: number;
  /** Resolves when `bufferedBytes` is at most this, or the socket has ended. Never rejects. */
  drainedTo(bytes: number): Promise<void>;
  /** Ends the socket: with a close frame, whose answer it awaits a moment, or at once without one. */
  close(how: "politely" | "at once"): void;
  /** Resolves when nothing of the socket is left. */
  readonly gone: Promise<void>;
}

export interface SocketReceiver {
  /** One binary message, at most `MAX_FRAME_BYTES`; the receiver owns the bytes. */
  binary(message: Uint8Array<ArrayBuffer>): void;
  /** A text message came; what it said is nobody's business. */
  text(): void;
  /** Called exactly once, also after `close`. */
  ended(reason: SocketEndReason): void;
}

/** Why a socket ended: a closed list, for logs. What the peer said of it is never repeated. */
export const SOCKET_END_REASONS = [
  "closed by us",
  "closed by the peer",
  "connection lost",
  "pong_timeout",
  "write_timeout",
  "message too big",
  "protocol violation",
] as const;
export type SocketEndReason = typeof SOCKET_END_REASONS[number];

export interface DialOptions {
  readonly headers?: Readonly<Record<string, string>>;
  /** Gives up; nothing stays open then. */
  readonly signal: AbortSignal;
  /** TCP, TLS and upgrade together, in milliseconds. */
  readonly timeoutMs: number;
}

/**
 * Opens a socket.
 *
 * @param url Used exactly as it is.
 * @throws {DialError} Why there is none. Or the signal's reason.
 */
export type Dial = (url: string, options: DialOptions) => Promise<RelaySocket>;

/** No socket. The message contains neither the URL nor what the other side said. */
export class DialError extends Error {
  override readonly name = "DialError";

  constructor(
    readonly failure: "unusable url" | "connection failed" | "upgrade timeout" | "upgrade refused",
    /** Of `upgrade refused`: the HTTP status. */
    readonly status?: number,
    /** Of `upgrade refused`: what the rendezvous gave as the reason, if that is one of the known ones. */
    readonly rejection?: RejectionReason,
    options?: ErrorOptions,
  ) {
    super(status === undefined ? failure : `${failure} with status ${status}`, options);
  }
}

/** The header of a refused upgrade that names one of {@linkcode REJECTION_REASONS}. */
export const REJECTION_HEADER = "x-codex-rendezvous-rejection-reason";

/** What may be logged of that header. */
export const REJECTION_REASONS = [
  "expired",
  "missing_role",
  "missing_expiry",
  "missing_signature",
  "missing_version",
  "missing_executor_registration_id",
  "unexpected_executor_registration_id",
  "malformed_query",
  "invalid_role",
  "invalid_expiry",
  "invalid_signature",
  "invalid_secret",
  "extra_query_param",
  "pod_draining",
  "unknown_route",
  "wrong_rendezvous_cluster",
  "route_unavailable",
] as const;
export type RejectionReason = typeof REJECTION_REASONS[number];
