import { ClientError, type ClientErrorKind } from "../client/client_error.ts";
import { type Cli, type Command, ReaderGoneError } from "./command.ts";
import { HELP_OPTION, parseCommand } from "./parse_command.ts";
import { COMMANDS } from "./commands.ts";
import { errorWords } from "./error_words.ts";
import { InterruptedError } from "./interruption.ts";
import { asidesSaid, hint, printableLines } from "./say.ts";
import { mostSimilar } from "./similar.ts";
import { UsageError } from "./usage_error.ts";

/** What a shell says of a program that SIGPIPE ended: 128 + 13. */
const READER_GONE_CODE = 141;

const OF_CONNECTING: ReadonlySet<ClientErrorKind> = new Set([
  ...["configuration", "connect", "connectTimeout", "registry", "initializeTimeout", "protocol"] as const,
]);
const DOCTOR = "(exec-server doctor, with the same --connect or --env, says what to do about it)";

/**
 * Runs the command that the first argument names.
 *
 * @returns The exit code; undefined: it names none, and is like none either.
 */
export async function runCommand(argv: readonly string[], cli: Cli): Promise<number | undefined> {
  const [name = "", ...rest] = argv;
  const entry = COMMANDS.find((entry) => entry.name === name);
  if (entry === undefined) {
    const similar = mostSimilar(name, COMMANDS.map((entry) => entry.name));
    if (similar === undefined) return undefined;
    const tip = `  tip: a similar command exists: '${similar}'`;
    await cli.stderr.write(
      `error: there is no command '${name}'\n\n${tip}\n\nFor more information, try 'exec-server --help'.\n`,
    );
    return 2;
  }
  const command = await entry.load();
  try {
    const args = command.read?.(rest, cli) ?? parseCommand(command, rest);
    if (!args.has(HELP_OPTION.name)) return await command.run(args, cli);
    await cli.stdout.write((await import("./help_page.ts")).helpPage(command, cli));
    return 0;
  } catch (error) {
    return await failed(command, error, cli);
  } finally {
    await asidesSaid(cli.clock);
  }
}

/** Says a failure in words: no stack, which helps nobody who typed a command. */
async function failed(command: Command, error: unknown, cli: Cli): Promise<number> {
  if (error instanceof ReaderGoneError) return READER_GONE_CODE;
  if (error instanceof InterruptedError) return error.code;
  if (!(error instanceof Error)) throw error;
  // What is not an error of ours, of the client or of the system is a mistake in the program: it shows where.
  const text = error instanceof UsageError
    ? error.message
    : `exec-server: ${isMistake(error) ? error.stack : errorWords(error)}`;
  try {
    await cli.stderr.write(printableLines(cli.stderr, text) + "\n");
    if (error instanceof ClientError && OF_CONNECTING.has(error.kind)) await hint(cli, DOCTOR);
  } catch {
    // Nobody can be told; the exit code still tells.
  }
  return command.failureCode ?? (error instanceof UsageError ? error.exitCode : 1);
}

function isMistake(error: Error): boolean {
  return error instanceof TypeError || error instanceof ReferenceError || error instanceof RangeError;
}
