import type { Command } from "./command.ts";
import { CONFIGURATION_ENVIRONMENT } from "./connection_options.ts";
import { JSON_OPTION } from "./say.ts";

/** What `ps`, `logs` and `kill` read besides what every command does. */
export const STATE_ENVIRONMENT: Command["environment"] = [
  ["XDG_STATE_HOME", "Where exec-server/detached is, which remembers the programs. Default: ~/.local/state."],
  ["EXEC_SERVER_TOKEN", "The token for servers that were reached with one, unless it was in a file."],
  ...CONFIGURATION_ENVIRONMENT,
];

export const ps: Command = {
  name: "ps",
  summary: "list the programs that exec --detach left running",
  synopsis: ["[OPTIONS]"],
  description: [
    "Lists the programs that exec --detach started and that are remembered on this machine, the oldest first, with what " +
    "their servers say of them: running; ended, with the exit code or signal; in use, while another client is attached; or " +
    "unreachable, which is explained on standard error. What its server does not know any more is forgotten.",
    "Servers with our extensions tell of all programs of the session: those that were not started by exec --detach have " +
    "no id here.",
  ],
  options: [{
    ...JSON_OPTION,
    help: `${JSON_OPTION.help} Each has id, program, server, startedAt, state, exitCode, signal, reason and error.`,
  }],
  operands: [],
  exitStatus: [["0", "All were listed, perhaps none."], [
    "1",
    "Something that is remembered cannot be read; the rest was listed.",
  ]],
  environment: STATE_ENVIRONMENT ?? [],
  examples: [["ps", "What runs where:"], ["ps --json", "The same for programs:"]],

  async run(args, cli) {
    return await (await import("./ps_run.ts")).runPs(args, cli);
  },
};
