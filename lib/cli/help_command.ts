import type { Command } from "./command.ts";
import { usageError } from "./command_arguments.ts";
import { COMMANDS } from "./commands.ts";
import { helpPage } from "./help_page.ts";
import { mostSimilar } from "./similar.ts";

const name = "help";
const synopsis = ["[COMMAND]"];

export const help: Command = {
  name,
  summary: "show the page of a command, or the overview",
  synopsis,
  description: [
    "Shows the page of COMMAND, as 'exec-server COMMAND --help' does; without one the options of the server and the " +
    "list of commands.",
  ],
  options: [],
  operands: [{ name: "COMMAND", help: "The command whose page to show.", optional: true }],
  exitStatus: [["0", "The page was shown."], ["2", "There is no such command."]],
  examples: [["help exec", "Show what exec can do:"]],

  async run(args, cli) {
    const [wanted] = args.operands;
    if (wanted === undefined) {
      const [{ HELP }, { overview }] = await Promise.all([import("./help.ts"), import("./overview.ts")]);
      await cli.stdout.write(`${HELP}\n${await overview(cli)}`);
      return 0;
    }
    const entry = COMMANDS.find((entry) => entry.name === wanted);
    if (entry === undefined) {
      const similar = mostSimilar(wanted, COMMANDS.map((entry) => entry.name));
      const tip = similar === undefined ? "" : `\n\n  tip: a similar command exists: '${similar}'`;
      throw usageError({ name, synopsis }, `there is no command '${wanted}'${tip}`);
    }
    await cli.stdout.write(helpPage(await entry.load(), cli));
    return 0;
  },
};
