import { copyString } from "../json.ts";
import type { TraceContext } from "../observer.ts";
import type { EnvironmentInfo } from "../protocol/environment.ts";
import { EXTENSIONS_CAPABILITY } from "../protocol/extensions.ts";
import { ClientError, initializeTimeout, jsonError, protocolError } from "./client_error.ts";
import type { ServerConnection } from "./server_connection.ts";

export interface HandshakeOptions {
  readonly clientName: string;
  /** The session to go on with; null: a new one. */
  readonly resumeSessionId: string | null;
  readonly signal: AbortSignal;
  /** The whole initialize timeout in milliseconds, as the error text names it. */
  readonly timeoutMs: number;
  /** How much of it is left: the carrier's own handshake may count towards it. */
  readonly remainingMs: number;
  /** Whether the carrier bounds the requests that may wait at the other end, whoever that is. */
  readonly keepsRequestLimit?: boolean;
  /** Null: a trace of its own. */
  readonly trace: TraceContext | null;
}

export interface Handshake {
  readonly sessionId: string;
  /** Null: the server is too old to tell it unasked. */
  readonly environmentInfo: EnvironmentInfo | null;
}

/**
 * The first exchange on a connection that is listening already: the server may push output before it answers.
 *
 * @throws {ClientError} The server's refusal, `initializeTimeout`, `json`, a lost connection, or `protocol` if the
 * server answers with another session than the one that was asked for.
 */
export async function shakeHands(connection: ServerConnection, options: HandshakeOptions): Promise<Handshake> {
  const { clientName, resumeSessionId, signal, timeoutMs, remainingMs, keepsRequestLimit, trace } = options;
  const { sessionId, environmentInfo } = await connection.call("initialize", { clientName, resumeSessionId }, {
    signal,
    trace,
    timeoutMs: remainingMs,
  }).catch((error) => {
    throw error instanceof ClientError && error.kind === "callTimeout" ? initializeTimeout(timeoutMs) : error;
  });
  if (sessionId === "") throw jsonError("missing field `sessionId`");
  if (resumeSessionId !== null && sessionId !== resumeSessionId) {
    throw protocolError(`exec-server initialized an unexpected session ${sessionId}`);
  }
  connection.notify("initialized", {});
  // Servers of ours have no queue that stops them.
  if (!keepsRequestLimit && environmentInfo?.capabilities[EXTENSIONS_CAPABILITY] === true) {
    connection.liftRequestLimit();
  }
  return { sessionId: copyString(sessionId), environmentInfo };
}
