import type { StartOptions } from "../client/process.ts";
import type { Cli, Command } from "./command.ts";
import { type CommandArguments, usageError } from "./command_arguments.ts";

/** What of the command line says how the program is to run. */
export function startOptions(
  command: Command,
  args: CommandArguments,
  { tty }: { tty: boolean },
  cli: Cli,
): StartOptions {
  if (args.operands[0] === "") throw usageError(command, "PROGRAM is empty");
  const cwd = args.get("--cwd");
  return {
    argv: args.operands,
    env: variables(command, args.all("--env-var"), tty, cli),
    ...(cwd === undefined ? {} : { cwd }),
  };
}

/** A program on a terminal has to know which one it is in the end, as with ssh. */
function variables(command: Command, given: readonly string[], tty: boolean, cli: Cli): Record<string, string> {
  const env: Record<string, string> = {};
  const terminal = tty ? cli.env("TERM") : undefined;
  if (terminal !== undefined) env["TERM"] = terminal;
  for (const text of given) {
    const equals = text.indexOf("=");
    const name = equals < 0 ? text : text.slice(0, equals);
    const value = equals < 0 ? cli.env(name) : text.slice(equals + 1);
    if (value === undefined) throw usageError(command, `the variable '${name}' of '--env-var ${name}' is not set here`);
    env[name] = value;
  }
  return env;
}
