import type { Client } from "./client.ts";
import type { Cli, Command } from "./command.ts";
import { type CommandArguments, usageError } from "./command_arguments.ts";
import { serverTarget } from "./connection_options.ts";
import { openTarget } from "./open_client.ts";
import { runProgram } from "./program/run_program.ts";
import { hint } from "./say.ts";
import { startOptions } from "./start_options.ts";

export async function runShell(shell: Command, args: CommandArguments, cli: Cli): Promise<number> {
  if (!cli.stdin.isTerminal || !cli.stdout.isTerminal) {
    throw usageError(shell, "a shell needs a terminal for its input and output; `exec-server exec` does without");
  }
  if (args.has("--login") && args.operands.length > 0) {
    throw usageError(shell, "the argument '--login' is for the server's own shell and cannot be used with PROGRAM");
  }
  const target = serverTarget(args, shell);
  const start = startOptions(shell, args, { tty: true }, cli);
  return await runProgram(async (client: Client) => {
    if (!await client.hasExtensions()) {
      await hint(
        cli,
        "This server's terminals have 24 rows of 80 columns, whatever the window: `stty rows R cols C` helps.",
      );
    }
    return start.argv.length > 0 ? start : { ...start, argv: await shellOf(client, args.has("--login")) };
  }, { cli, open: () => openTarget(target, cli), tty: true, reads: true });
}

async function shellOf(client: Client, login: boolean): Promise<string[]> {
  const { shell: { path } } = await client.info();
  return login ? [path, "-l"] : [path];
}
