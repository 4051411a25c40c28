import type { Cli, Command, CommandEntry } from "./command.ts";
import { usageError } from "./command_arguments.ts";
import { helpPage } from "./help_page.ts";
import { mostSimilar } from "./similar.ts";

/** @param entries All commands, this one included. */
export function helpCommand(entries: readonly CommandEntry[]): Command {
  return { ...help, run: ({ operands: [wanted] }, cli) => run(wanted, entries, cli) };
}

const help: Omit<Command, "run"> = {
  name: "help",
  summary: "show the page of a command, or the overview",
  synopsis: ["[COMMAND]"],
  description: [
    "Shows the page of COMMAND, as 'exec-server COMMAND --help' does; without one the options of the server and the " +
    "list of commands.",
  ],
  options: [],
  operands: [{ name: "COMMAND", help: "The command whose page to show.", optional: true }],
  exitStatus: [["0", "The page was shown."], ["2", "There is no such command."]],
  examples: [["help exec", "Show what exec can do:"]],
};

async function run(wanted: string | undefined, entries: readonly CommandEntry[], cli: Cli): Promise<number> {
  if (wanted === undefined) {
    const [{ HELP }, { overview }] = await Promise.all([import("./help.ts"), import("./overview.ts")]);
    await cli.stdout.write(`${HELP}\n${await overview(entries, cli)}`);
    return 0;
  }
  const entry = entries.find((entry) => entry.name === wanted);
  if (entry === undefined) {
    const similar = mostSimilar(wanted, entries.map((entry) => entry.name));
    const tip = similar === undefined ? "" : `\n\n  tip: a similar command exists: '${similar}'`;
    throw usageError(help, `there is no command '${wanted}'${tip}`);
  }
  await cli.stdout.write(helpPage(await entry.load(), cli));
  return 0;
}
