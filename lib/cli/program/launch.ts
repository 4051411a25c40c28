import { ClientError } from "../../client/client_error.ts";
import { FileError } from "../../client/file_error.ts";
import type { EnvironmentPath, ExecProcess, StartOptions } from "../../client/process.ts";
import type { Client } from "../client.ts";
import type { Cli } from "../command.ts";
import { say } from "../say.ts";

const CANNOT_RUN_CODE = 126;
const NOT_FOUND_CODE = 127;
const INTERNAL_ERROR = -32603;

/** A program could not be started: what to say, and the exit code that a shell would have for it. */
export class LaunchError extends Error {
  override readonly name = "LaunchError";

  constructor(message: string, readonly exitCode: number, options?: ErrorOptions) {
    super(message, options);
  }
}

/**
 * Starts a program.
 *
 * @throws {LaunchError} If the machine cannot run it.
 * @throws {ClientError} If it was not even tried.
 */
export async function launch(client: Client, options: StartOptions): Promise<ExecProcess> {
  const { argv, cwd, tty } = options;
  // With a terminal, servers start the program in the home directory instead.
  if (tty && cwd !== undefined && !await isDirectory(client, cwd)) throw noDirectory(argv, cwd);
  try {
    return await client.start(options);
  } catch (error) {
    if (!(error instanceof ClientError)) throw error;
    throw await explained(error, client, options);
  }
}

async function explained(error: ClientError, client: Client, { argv, cwd }: StartOptions): Promise<Error> {
  const { serverMessage = error.message } = error;
  const dataKind = launchFailure(error);
  // How it is put for a terminal.
  const isNowhere = dataKind === "spawnFailed" && serverMessage.includes("No viable candidates found in PATH");
  const isMissing = dataKind === "spawnNotFound" || isNowhere;
  if (!isMissing && dataKind !== "spawnPermissionDenied" && dataKind !== "spawnFailed") return error;
  // The server's words are the same whether the program is missing or the directory.
  if (cwd !== undefined && !await isDirectory(client, cwd)) return noDirectory(argv, cwd, error);
  const code = isMissing ? NOT_FOUND_CODE : CANNOT_RUN_CODE;
  // It may be the directory that must not be entered.
  const where = cwd === undefined || isMissing ? "" : ` in '${cwd}'`;
  return new LaunchError(
    `cannot run '${argv[0]}'${where}: ${isNowhere ? "it is not on the PATH there" : serverMessage}`,
    code,
    { cause: error },
  );
}

/**
 * What kept a program from starting. Servers before Codex 0.171 say it in the words of the system alone (seen with 0.164
 * to 0.169).
 */
function launchFailure({ kind, code, dataKind, serverMessage = "" }: ClientError): string | undefined {
  if (dataKind !== undefined || kind !== "server" || code !== INTERNAL_ERROR) return dataKind;
  if (/\(os error 2\)$/.test(serverMessage)) return "spawnNotFound";
  if (/\(os error 13\)$/.test(serverMessage)) return "spawnPermissionDenied";
  return /^Unable to spawn /.test(serverMessage) || /\(os error \d+\)$/.test(serverMessage) ? "spawnFailed" : undefined;
}

function noDirectory(argv: readonly string[], cwd: EnvironmentPath, cause?: Error): LaunchError {
  return new LaunchError(`there is no directory '${cwd}' to run '${argv[0]}' in`, CANNOT_RUN_CODE, { cause });
}

async function isDirectory(client: Client, path: EnvironmentPath): Promise<boolean> {
  try {
    return (await client.files.stat(path)).isDirectory;
  } catch (error) {
    if (!(error instanceof FileError)) throw error;
    // Where nobody can tell, the start itself will.
    return error.kind !== "NotFound" && error.code !== "ENOTDIR";
  }
}

/** Says why a program could not be started. @returns The exit code. */
export async function sayLaunchError(cli: Cli, error: LaunchError): Promise<number> {
  await say(cli, error.message);
  return error.exitCode;
}
