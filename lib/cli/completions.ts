import type { Cli, Command } from "./command.ts";
import { bashCompletions, fishCompletions, zshCompletions } from "./completion_scripts.ts";
import { usageError } from "./command_arguments.ts";

const SCRIPTS: ReadonlyMap<string, (commands: readonly Command[]) => string> = new Map([
  ["bash", bashCompletions],
  ["zsh", zshCompletions],
  ["fish", fishCompletions],
]);

/** @param load Gives all commands, this one included. */
export function completionsCommand(load: () => Promise<readonly Command[]>): Command {
  return { ...completions, run: ({ operands: [shell = ""] }, cli) => run(shell, load, cli) };
}

const completions: Omit<Command, "run"> = {
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
};

async function run(shell: string, load: () => Promise<readonly Command[]>, cli: Cli): Promise<number> {
  const script = SCRIPTS.get(shell);
  if (script === undefined) {
    throw usageError(completions, `there are completions for bash, zsh and fish, and none for '${shell}'`);
  }
  await cli.stdout.write(script(await load()));
  return 0;
}
