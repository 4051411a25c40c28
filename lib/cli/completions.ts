import type { Command } from "./command.ts";
import { loadCommands } from "./commands.ts";
import { bashCompletions, fishCompletions, zshCompletions } from "./completion_scripts.ts";
import { UsageError } from "./usage_error.ts";

const SCRIPTS: ReadonlyMap<string, (commands: readonly Command[]) => string> = new Map([
  ["bash", bashCompletions],
  ["zsh", zshCompletions],
  ["fish", fishCompletions],
]);

export const completions: Command = {
  name: "completions",
  summary: "print the script that lets a shell complete our command lines",
  synopsis: ["bash|zsh|fish"],
  description: [
    "Prints a script for the shell that is named. It completes commands, options, the values that an option can have, " +
    "and files where files are meant. It asks no server.",
  ],
  options: [],
  operands: [{ name: "SHELL", help: "bash, zsh or fish." }],
  exitStatus: [["0", "The script was printed."], ["2", "There is no script for that shell."]],
  examples: [
    ["completions bash > ~/.local/share/bash-completion/completions/exec-server", "For bash, in new shells:"],
    ["completions zsh > ~/.zfunc/_exec-server", "For zsh, if ~/.zfunc is in its fpath:"],
    ["completions fish > ~/.config/fish/completions/exec-server.fish", "For fish:"],
  ],

  async run(args, cli) {
    const [shell = ""] = args.operands;
    const script = SCRIPTS.get(shell);
    if (script === undefined) {
      throw new UsageError(2, `error: there are completions for bash, zsh and fish, and none for '${shell}'`);
    }
    await cli.stdout.write(script(await loadCommands()));
    return 0;
  },
};
