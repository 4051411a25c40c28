import type { Command } from "./command.ts";
import { STATE_ENVIRONMENT } from "./ps.ts";
import { signalName } from "./signal_name.ts";

export const kill: Command = {
  name: "kill",
  summary: "send a signal to detached programs",
  synopsis: ["[-s SIGNAL] ID..."],
  description: [
    "Sends a signal, SIGTERM unless another one is named, to each program ID that exec --detach started, and to the " +
    "programs of its process group. That it was sent does not mean that it had an effect; -s KILL always has.",
    "A server without our extensions can send INT and KILL only.",
  ],
  options: [
    {
      name: "--signal",
      short: "-s",
      value: "<SIGNAL>",
      check: (value) => signalName(value) === undefined ? "a name such as TERM or SIGTERM is expected" : undefined,
      help: "The signal's name, with or without SIG, in upper or lower case. Default: TERM.",
    },
  ],
  operands: [{ name: "ID", help: "As exec --detach printed it, or its beginning.", repeated: true }],
  exitStatus: [
    ["0", "All were sent."],
    ["1", "One was not: the program had ended, is not remembered, or its server cannot."],
    ["2", "The command line is wrong."],
  ],
  environment: STATE_ENVIRONMENT ?? [],
  examples: [["kill 3f9c", "Ask a program to end:"], ["kill -s KILL 3f9c", "End it:"]],

  async run(args, cli) {
    return await (await import("./kill_run.ts")).runKill(args, cli);
  },
};
