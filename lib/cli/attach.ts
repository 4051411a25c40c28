import type { Command } from "./command.ts";
import { CONNECTION_ENVIRONMENT } from "./connection_options.ts";
import { OUR_FAILURE_CODE, PROGRAM_EXIT_STATUS } from "./exec.ts";

export const attach: Command = {
  name: "attach",
  summary: "join a program that exec --detach left running",
  synopsis: ["[OPTIONS] ID"],
  description: [
    "Shows what the program ID has written, from the beginning of what is kept (at most the last 1 MiB), and goes on with " +
    "what it writes. If it was started with -i or -t, our input goes to it; the end of a pipe or file is passed on.",
    "A program on a terminal gets every key as it is; Ctrl-P Ctrl-Q leaves it running. To any other program Ctrl-C sends " +
    "SIGINT, and Ctrl-\\ (SIGQUIT) leaves it running. SIGTERM and SIGHUP leave it running, too: closing the window does " +
    "no harm. Only one client can be attached at a time.",
  ],
  options: [{ name: "--no-stdin", help: "Only look: nothing is read here, and the program's input stays as it is." }],
  operands: [{ name: "ID", help: "As exec --detach printed it, or its beginning." }],
  exitStatus: [
    ["CODE", "That of the program, unless it is one of these:"],
    ["0", "We left and the program runs on."],
    ...PROGRAM_EXIT_STATUS.filter(([code]) => !["126", "127", "141"].includes(code)),
    ["129, 143", "A signal made us leave; the program runs on."],
  ],
  failureCode: OUR_FAILURE_CODE,
  environment: [
    ["XDG_STATE_HOME", "Where exec-server/detached is, which remembers the programs. Default: ~/.local/state."],
    ...CONNECTION_ENVIRONMENT,
  ],
  examples: [
    ["attach 3f9c", "Join a program by the beginning of its id:"],
    ["attach --no-stdin 3f9c", "Watch it without touching it:"],
  ],

  async run(args, cli) {
    return await (await import("./attach_run.ts")).runAttach(args, cli);
  },
};
