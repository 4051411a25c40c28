import { ClientError, INVALID_REQUEST, SESSION_ATTACHED } from "../client/client_error.ts";
import type { ExecProcess } from "../client/process.ts";
import type { Client } from "./client.ts";
import type { Cli } from "./command.ts";
import { savedTarget } from "./connection_options.ts";
import { openTarget } from "./open_client.ts";
import type { DetachedProcess, DetachedProcesses } from "./state.ts";

/** The server knows nothing of the process any more, and neither do we from now on. */
export class ProcessGoneError extends Error {
  override readonly name = "ProcessGoneError";
}

/** Another client has the session just now. */
export class SessionInUseError extends Error {
  override readonly name = "SessionInUseError";
}

/** Where connections to sessions come from; replaced in tests. */
export type OpenTarget = typeof openTarget;

/**
 * Connects to the session of a detached process. One that is gone is forgotten here as well.
 *
 * @throws {ProcessGoneError} The server does not know the session.
 * @throws {SessionInUseError} Another client is attached to it.
 * @throws {ClientError} Why there is no connection.
 */
export async function resume(
  saved: DetachedProcess,
  cli: Cli,
  states: DetachedProcesses,
  open: OpenTarget = openTarget,
): Promise<Client> {
  try {
    return await open(savedTarget(saved), cli, { resumeSessionId: saved.sessionId });
  } catch (error) {
    if (!(error instanceof ClientError)) throw error;
    if (error.code === SESSION_ATTACHED) {
      throw new SessionInUseError(
        `another client is attached to '${saved.id}' (exec-server attach or logs -f, perhaps); only one can be`,
        { cause: error },
      );
    }
    if (isUnknown(error, "session")) throw await gone(saved, states, error);
    throw error;
  }
}

/**
 * The process itself, from the oldest output on that the server still has.
 *
 * @throws {ProcessGoneError} The session lives, and the process is not remembered in it any more.
 */
export async function attachTo(
  client: Client,
  saved: DetachedProcess,
  states: DetachedProcesses,
): Promise<ExecProcess> {
  try {
    return await client.attach(saved.id);
  } catch (error) {
    if (isUnknown(error, "process")) throw await gone(saved, states, error);
    throw error;
  }
}

/** Whether the server said that it does not know a session or process. */
export function isUnknown(error: unknown, what: "session" | "process"): boolean {
  return error instanceof ClientError && error.code === INVALID_REQUEST &&
    error.serverMessage?.startsWith(`unknown ${what} id`) === true;
}

async function gone(saved: DetachedProcess, states: DetachedProcesses, cause: unknown): Promise<ProcessGoneError> {
  await states.forget(saved.id);
  return new ProcessGoneError(
    `'${saved.id}' is gone: it was not asked for in time, or its server was started anew`,
    { cause },
  );
}
