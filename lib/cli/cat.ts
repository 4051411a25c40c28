import type { Command } from "./command.ts";
import { CONNECTION_ENVIRONMENT, CONNECTION_OPTIONS } from "./connection_options.ts";
import { JSON_OPTION } from "./say.ts";

export const cat: Command = {
  name: "cat",
  summary: "print files of the environment",
  synopsis: ["[OPTIONS] PATH..."],
  description: [
    "Writes the files PATH of the environment to standard output, one after the other, byte for byte, in blocks: size and " +
    "content do not matter. A PATH may have env: before it, as in cp, and may be a file: URI.",
  ],
  options: [
    ...CONNECTION_OPTIONS,
    { ...JSON_OPTION, help: `${JSON_OPTION.help} Each is one block of a file: path, offset and base64.` },
  ],
  operands: [{ name: "PATH", help: "A file of the environment.", repeated: true }],
  exitStatus: [
    ["0", "All were printed."],
    ["1", "Something could not be."],
    ["2", "The command line is wrong."],
    ["141", "Nobody read the output any more."],
  ],
  environment: CONNECTION_ENVIRONMENT,
  examples: [["cat --connect ws://127.0.0.1:8765 /etc/os-release", "Look at a file:"]],

  async run(args, cli) {
    return await (await import("./cat_run.ts")).runCat(cat, args, cli);
  },
};
