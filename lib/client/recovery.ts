import type { Clock } from "../clock.ts";
import type { Log } from "../log.ts";
import { abortable, pause } from "../abortable.ts";
import type { ResumeStrategy } from "./carrier.ts";
import { ClientError, disconnected } from "./client_error.ts";
import { Deadlines, RecoveryTimeout } from "./recovery_deadlines.ts";
import type { ServerConnection } from "./server_connection.ts";
import type { Telemetry } from "./telemetry.ts";

/** What recovery needs of the client whose connection was lost. */
export interface Recoverable {
  /** Null: there is no way back. */
  readonly strategy: ResumeStrategy | null;
  /** Undefined: the connection was lost before there was one. */
  readonly sessionId: string | undefined;
  /** Resolves when nothing is under way any more on the lost connection. */
  settled(): Promise<void>;
  /** Opens a connection and resumes the session. Nothing stays open when it fails or is aborted. */
  attach(sessionId: string, signal: AbortSignal): Promise<ServerConnection>;
  /** Makes up for what was missed. */
  replay(connection: ServerConnection, signal: AbortSignal): Promise<void>;
  /** Gives the connection to everybody; false: it is dead already. */
  install(connection: ServerConnection): boolean;
}

export interface RecoveryOptions {
  readonly clock: Clock;
  readonly telemetry: Telemetry;
  readonly log: Log;
  readonly attachDeadlineMs: number;
  readonly recoveryDeadlineMs: number;
  /** Whether the first attempt has a pause before it, as the others have. */
  readonly pauseFirst: boolean;
  /** Cancels the recovery. */
  readonly signal: AbortSignal;
}

/** Names of what a recovery was doing when its time was up, for telemetry. */
type Stage = "process_start_drain" | "initialize" | "process_replay" | "backoff";

/**
 * Finds a new connection for a client that has just lost its own. Two limits count from the call: until the session must
 * be attached again, and until the processes must have been replayed as well.
 *
 * @param lost Why the old connection is gone; the failure's text begins with it.
 * @throws {ClientError} The client has failed for good. Or the reason of `options.signal`.
 */
export async function recover(client: Recoverable, lost: ClientError, options: RecoveryOptions): Promise<void> {
  const { clock, telemetry, log, signal } = options;
  const since = clock.now();
  let stage: Stage = "process_start_drain";
  const timedOut = (owner: string) =>
    telemetry.event?.("codex.exec_server.session_recovery_timeout", {
      stage,
      deadline_owner: owner,
      elapsed_ms: Math.round(clock.now() - since),
    });
  using deadlines = new Deadlines(options);
  try {
    await abortable(client.settled(), deadlines.attach);
    const { strategy, sessionId } = client;
    if (strategy === null) throw lost;
    if (sessionId === undefined) throw new Error("missing session id");
    if (options.pauseFirst) {
      stage = "backoff";
      await pause(clock, strategy.pauseMs(sessionId, 0), deadlines.attach);
    }
    for (let attempt = 0;; attempt++) {
      stage = "initialize";
      const failure = await tryOnce(client, sessionId, deadlines, () => stage = "process_replay");
      if (failure === undefined) return;
      if (failure.kind === "initializeTimeout") timedOut("initialize");
      log.debug("attempt to resume the session failed", { attempt, error: failure.message });
      stage = "backoff";
      await pause(clock, strategy.pauseMs(sessionId, attempt), deadlines.attach);
    }
  } catch (error) {
    if (error === lost || signal.aborted) throw error;
    if (error instanceof RecoveryTimeout) timedOut(error.owner);
    const reason = error instanceof Error ? error.message : String(error);
    throw new ClientError("disconnected", `${lost.message}; failed to resume exec-server session: ${reason}`, {
      cause: error,
    });
  }
}

/**
 * One attempt, from dialling to the installed connection.
 *
 * @returns Why it failed, if another one may succeed.
 * @throws Why it failed, if not.
 */
async function tryOnce(
  client: Recoverable,
  sessionId: string,
  deadlines: Deadlines,
  attached: () => void,
): Promise<ClientError | undefined> {
  let connection: ServerConnection | undefined;
  try {
    connection = await client.attach(sessionId, deadlines.attach);
    attached();
    await abortable(client.replay(connection, deadlines.whole), deadlines.whole);
    if (client.install(connection)) return undefined;
    throw disconnected();
  } catch (error) {
    connection?.close("the attempt to resume failed");
    if (error instanceof ClientError && error.retryable && !deadlines.whole.aborted) return error;
    throw error;
  }
}
