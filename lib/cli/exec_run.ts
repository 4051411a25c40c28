import type { Cli, Command } from "./command.ts";
import { type CommandArguments, usageError } from "./command_arguments.ts";
import { serverTarget } from "./connection_options.ts";
import { openTarget } from "./open_client.ts";
import { runProgram } from "./program/run_program.ts";
import { startOptions } from "./start_options.ts";

export async function runExec(exec: Command, args: CommandArguments, cli: Cli): Promise<number> {
  const detached = args.has("--detach");
  for (const name of ["--keep", "--json"]) {
    if (args.has(name) && !detached) throw usageError(exec, `the argument '${name}' needs '--detach'`);
  }
  const target = serverTarget(args, exec);
  if (detached) return await (await import("./detach.ts")).detach(exec, args, target, cli);
  const tty = args.has("--tty");
  const start = startOptions(exec, args, { tty }, cli);
  return await runProgram(start, {
    cli,
    open: () => openTarget(target, cli),
    tty,
    reads: !cli.stdin.isTerminal || tty || args.has("--interactive"),
    timeout: args.get("--timeout"),
  });
}
