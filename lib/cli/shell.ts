import type { Command } from "./command.ts";
import { CONNECTION_ENVIRONMENT, CONNECTION_OPTIONS } from "./connection_options.ts";
import { CWD_OPTION, ENV_VAR_OPTION, OUR_FAILURE_CODE, PROGRAM_EXIT_STATUS } from "./exec.ts";

export const shell: Command = {
  name: "shell",
  summary: "open an interactive shell where the server is",
  synopsis: ["[OPTIONS] [[--] PROGRAM [ARGUMENT]...]"],
  description: [
    "Opens a terminal on the machine of the server with the shell of its user, or with PROGRAM. Every key goes there as " +
    "it is, Ctrl-C and Ctrl-Z too, the size of the window is passed on, and our own terminal is put back however it " +
    "ends. It needs a terminal: for scripts there is exec.",
    "If the link is lost, it is tried for 45 s to get it and everything missed back; then the shell is given up, and " +
    "the server ends it.",
  ],
  options: [
    ...CONNECTION_OPTIONS,
    CWD_OPTION,
    ENV_VAR_OPTION,
    { name: "--login", short: "-l", help: "Have the shell read the profile of a login, by its option -l." },
  ],
  operands: [
    {
      name: "PROGRAM",
      help: "What to run instead of the shell, such as another shell: a path there, or a name on the PATH there.",
      optional: true,
    },
    { name: "ARGUMENT", help: "Passed on as it is.", optional: true, repeated: true },
  ],
  trailing: true,
  exitStatus: [["CODE", "That of the shell, unless it is one of these:"], ...PROGRAM_EXIT_STATUS.slice(1)],
  failureCode: OUR_FAILURE_CODE,
  environment: [["TERM", "What kind of terminal this is; the shell gets it too."], ...CONNECTION_ENVIRONMENT],
  examples: [
    ["shell --connect ws://127.0.0.1:8765", "Look around on another machine:"],
    ["shell", "The same on this machine, through a server of its own:"],
    ["shell --env build --cwd /srv -- bash --norc", "Another shell, in a directory:"],
  ],

  async run(args, cli) {
    return await (await import("./shell_run.ts")).runShell(shell, args, cli);
  },
};
