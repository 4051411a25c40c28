/**
 * The seam between a carrier (WebSocket, stdio, relay, a pair in memory) and a conversation. A carrier carries whole
 * messages; it parses nothing and knows no method.
 *
 * Messages are pushed, not iterated: the platform's WebSocket pushes as well, and a request that can be answered at
 * once is answered in the same turn of the event loop.
 */

/** One whole message: a text one is a string, a binary one its bytes. */
export type Message = string | Uint8Array<ArrayBuffer>;

/** Why and how a connection ended; `reason` is a short phrase for the log. */
export interface ConnectionEnd {
  readonly reason: string;
  /**
   * Set when the connection broke instead of being closed by either end: what failed, for people, e.g. `failed to read
   * websocket JSON-RPC message from exec-server websocket ws://127.0.0.1:4711: Connection reset`.
   */
  readonly failure?: string;
}

/** Who listens to a connection. */
export interface Receiver {
  /**
   * One message, in the order of arrival. A returned promise asks the carrier to wait before it delivers the next one;
   * a carrier that cannot stop its peer (the platform's WebSocket) ignores it.
   */
  message(message: Message): void | Promise<void>;
  /**
   * No further message comes, while answers can still be sent. Resolves when what came before has been answered: the
   * carrier decides how long to wait for it. A carrier that cannot tell the end of the input from its own calls `ended`.
   */
  inputEnded?(): Promise<void>;
  /** No further message comes and nothing more can be sent. Called exactly once, also after `close`. */
  ended(end: ConnectionEnd): void;
}

export interface Connection {
  /** How log lines and the wire's error texts call the other end, e.g. `exec-server websocket 127.0.0.1:4711`. */
  readonly label: string;
  /**
   * The prefix of the answer to a message that cannot be decoded, without the reason, e.g.
   * `failed to parse websocket JSON-RPC message from exec-server websocket 127.0.0.1:4711: `.
   */
  readonly malformedPrefix: string;
  /** Set where the carrier's rules end the connection at a message that cannot be decoded, without an answer. */
  readonly endsAtMalformed?: boolean;
  /**
   * Set where the carrier's rules end the connection when more messages than this wait behind the one in progress.
   * Requests that wait in lanes, where several run at once, are not among them.
   */
  readonly maxWaitingMessages?: number;
  /** Starts the delivery of messages; call it once. What came before is delivered first. */
  start(receiver: Receiver): void;
  /** Queues one message; messages leave in the order of the calls. Dropped silently once the connection has ended. */
  send(message: string): void;
  /**
   * Set while others wait for the same event loop: then no more than {@linkcode SHARED_HIGH_WATER_BYTES} is queued, so
   * that less work lies before theirs.
   */
  sharing: boolean;
  /**
   * Tells the peer at once that what it sent has arrived, where the carrier can: after a message that is not answered, so
   * that its next one need not wait for that.
   */
  acknowledge?: () => void;
  /** True while more is queued than the carrier needs to keep its peer busy: producers pause. */
  readonly congested: boolean;
  /** Resolves when the connection is not, or no longer, congested, or has ended. Never rejects. */
  drained(): Promise<void>;
  /**
   * Ends the connection; what was sent before still leaves if the peer takes it within the carrier's patience.
   *
   * @param code WebSocket close code; other carriers ignore it.
   */
  close(code?: number, reason?: string): void;
}

/**
 * How much unsent output makes a connection congested that has to look whether it has drained, in bytes. Measured:
 * 256 KiB capped one program's flood at 234 MB/s, 1 MiB allowed 550 MB/s; a streamed HTTP body, whose pieces are larger,
 * came at 160 MB/s with 1 MiB and at 275 MB/s with 4.
 */
export const HIGH_WATER_BYTES = 4 * 1024 * 1024;

/**
 * The same for a connection that shares. A second client that asked without a pause during a flood of 200 MB had its
 * answer within 1.2 ms in nine of ten cases, and within 6.6 ms when the first one's connection did not share.
 */
export const SHARED_HIGH_WATER_BYTES = 128 * 1024;
