import type { Command } from "./command.ts";
import { CONNECTION_ENVIRONMENT, CONNECTION_OPTIONS } from "./connection_options.ts";
import { JSON_OPTION } from "./say.ts";

export const ls: Command = {
  name: "ls",
  summary: "list a directory of the environment",
  synopsis: ["[OPTIONS] [PATH]..."],
  description: [
    "Lists what is in each directory PATH of the environment, or names a PATH that is no directory; without one the " +
    "server's own directory. One name on a line, in the order of their characters. A PATH may have env: before it, as in " +
    "cp, and may be a file: URI.",
    "Links whose target cannot be looked at do not appear: the server leaves them out. Names that are not UTF-8 are shown " +
    "with U+FFFD in them.",
  ],
  options: [
    ...CONNECTION_OPTIONS,
    { name: "--all", short: "-a", help: "Show names that begin with a dot, too." },
    {
      name: "--long",
      short: "-l",
      help:
        "Before the name the kind (d directory, l link, - file, ? something else), the bytes of a file, and when it was " +
        "last changed, in local time. A link has those of what it leads to.",
    },
    { ...JSON_OPTION, help: `${JSON_OPTION.help} Each has path, name, type, isLink, size and modified.` },
  ],
  operands: [{ name: "PATH", help: "A directory or file of the environment.", optional: true, repeated: true }],
  exitStatus: [["0", "All were listed."], ["1", "Something could not be."], ["2", "The command line is wrong."]],
  environment: CONNECTION_ENVIRONMENT,
  examples: [
    ["ls --connect ws://127.0.0.1:8765 -l /var/log", "What is in a directory, with sizes:"],
    ["ls --connect ws://127.0.0.1:8765 --json /tmp", "The same for programs:"],
  ],

  async run(args, cli) {
    return await (await import("./ls_run.ts")).runLs(ls, args, cli);
  },
};
