import type { Command } from "./command.ts";
import { STATE_ENVIRONMENT } from "./ps.ts";
import { JSON_OPTION } from "./say.ts";

export const logs: Command = {
  name: "logs",
  summary: "show what a detached program has written",
  synopsis: ["[OPTIONS] ID"],
  description: [
    "Shows the output that the server keeps of the program ID, which exec --detach started: the last 1 MiB at most, " +
    "stdout to standard output and stderr to standard error; a terminal's is all standard output. With --follow it goes " +
    "on until the program and its children have closed their output. Ctrl-C ends the showing, not the program.",
    "The output may hold commands to a terminal; it is shown as it is.",
  ],
  options: [
    { name: "--follow", short: "-f", help: "Go on with what it writes from now on." },
    {
      ...JSON_OPTION,
      help:
        `${JSON_OPTION.help} Each is one event: type (output, exited, closed) and seq; output has stream and base64, ` +
        "exited has code.",
    },
  ],
  operands: [{ name: "ID", help: "As exec --detach printed it, or its beginning." }],
  exitStatus: [
    ["0", "It was shown, whatever the program's own exit code."],
    ["1", "The program is not remembered, or its server cannot be asked."],
    ["129, 130, 143", "Interrupted by SIGHUP, SIGINT or SIGTERM; the program runs on."],
  ],
  environment: STATE_ENVIRONMENT ?? [],
  examples: [["logs 3f9c", "What a program has written so far:"], ["logs -f 3f9c", "Watch it:"]],

  async run(args, cli) {
    return await (await import("./logs_run.ts")).runLogs(args, cli);
  },
};
