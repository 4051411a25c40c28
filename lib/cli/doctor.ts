import type { Command } from "./command.ts";
import { CONNECTION_ENVIRONMENT, CONNECTION_OPTIONS } from "./connection_options.ts";
import { JSON_OPTION } from "./say.ts";

export const doctor: Command = {
  name: "doctor",
  summary: "find out whether a server can be used, and what is wrong if not",
  synopsis: ["[OPTIONS]"],
  description: [
    "Looks at one thing after the other: the address, the token, the connection, what kind of server it is, how long an " +
    "answer takes, what it can do, whether a program runs and a terminal works, whether files can be written and read, " +
    "whether programs and files that are to be in a sandbox are held to it, and what is remembered here of detached ones. Without " +
    "--connect or --env it is the server that other commands start for themselves; then it also says of everything that " +
    "can enforce sandboxes on this machine what it promises, or what it lacks.",
    "Each line begins with ok, note (worth knowing), FAILED or skipped. Under what is not as it should be stands what to " +
    "do. It starts a few short programs on the server's machine and writes a few files into its directory for temporary files, " +
    "which it removes again.",
  ],
  options: [
    ...CONNECTION_OPTIONS,
    { ...JSON_OPTION, help: `${JSON_OPTION.help} Each is one check: name, status, detail and advice.` },
  ],
  operands: [],
  exitStatus: [["0", "Nothing failed."], ["1", "Something did."], ["2", "The command line is wrong."]],
  environment: CONNECTION_ENVIRONMENT,
  examples: [
    ["doctor", "Does it work on this machine?"],
    ["doctor --connect wss://box.example --token-file ./token", "Why can a server not be used?"],
  ],

  async run(args, cli) {
    return await (await import("./doctor_run.ts")).runDoctor(doctor, args, cli);
  },
};
