import type { StartOptions } from "../client/process.ts";
import type { Cli } from "./command.ts";
import { type CommandArguments, usageError } from "./command_arguments.ts";
import { serverTarget } from "./connection_options.ts";
import { exec } from "./exec.ts";
import { openTarget } from "./open_client.ts";
import { runProgram } from "./program/run_program.ts";

export async function runExec(args: CommandArguments, cli: Cli): Promise<number> {
  const detached = args.has("--detach");
  for (const name of ["--keep", "--json"]) {
    if (args.has(name) && !detached) throw usageError(exec, `the argument '${name}' needs '--detach'`);
  }
  const target = serverTarget(args, exec);
  if (detached) return await (await import("./detach.ts")).detach(args, target, cli);
  const tty = args.has("--tty");
  const start = startOptions(args, { tty }, cli);
  return await runProgram(start, {
    cli,
    open: () => openTarget(target, cli),
    tty,
    reads: !cli.stdin.isTerminal || tty || args.has("--interactive"),
    timeout: args.get("--timeout"),
  });
}

/** What of the command line says how the program is to run. */
export function startOptions(args: CommandArguments, { tty }: { tty: boolean }, cli: Cli): StartOptions {
  const cwd = args.get("--cwd");
  return {
    argv: args.operands,
    env: variables(args.all("--env-var"), tty, cli),
    ...(cwd === undefined ? {} : { cwd }),
  };
}

/** A program on a terminal has to know which one it is in the end, as with ssh. */
function variables(given: readonly string[], tty: boolean, cli: Cli): Record<string, string> {
  const env: Record<string, string> = {};
  const terminal = tty ? cli.env("TERM") : undefined;
  if (terminal !== undefined) env["TERM"] = terminal;
  for (const text of given) {
    const equals = text.indexOf("=");
    const name = equals < 0 ? text : text.slice(0, equals);
    const value = equals < 0 ? cli.env(name) : text.slice(equals + 1);
    if (value === undefined) throw usageError(exec, `the variable '${name}' of '--env-var ${name}' is not set here`);
    env[name] = value;
  }
  return env;
}
