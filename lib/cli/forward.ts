import { LOG_LEVELS } from "../log.ts";
import { requireSense } from "./argument_rules.ts";
import { ArgumentReader, type OptionSpec } from "./arguments.ts";
import type { Command, CommandOption } from "./command.ts";
import { CommandArguments } from "./command_arguments.ts";
import { EXIT_ON_STDIN_CLOSE, EXIT_ON_STDIN_CLOSE_VARIABLE, withVariable } from "./exit_on_stdin_close.ts";
import { HELP_OPTION } from "./parse_command.ts";
import { SHARED_REMOTE_OPTIONS } from "./remote_specs.ts";
import { UsageError } from "./usage_error.ts";

const REQUIRED = ["--remote", "--environment-id", "--connect"];

/** Sentences for the options that the server has as well. */
const HELP_TEXTS: Readonly<Record<string, string>> = {
  "--remote": "The base URL of the registry.",
  "--environment-id": "The environment that the server becomes.",
  "--name": "A label of your own; it is sent nowhere.",
  "--remote-transport": "noise: end-to-end encrypted through a rendezvous, and the only one that can forward.",
  "--trust-registry":
    "A host that CODEX_API_KEY and the agent identity may be shown to, besides those that they belong to and this " +
    "machine, over https.",
  "--use-agent-identity-auth": "Show the registry the Agent Identity of CODEX_ACCESS_TOKEN.",
  "--registration-bearer-stdin": "Show it the token that is the first line of standard input.",
  "--registration-bearer-file":
    "Show it the token of this file, which nobody but its owner may be able to read or write. It is read again for " +
    "each request.",
  "--executor-credential-stdin":
    "Show it the newest of the credentials that come on standard input, and end when that ends.",
  "--aws-sigv4": "Belongs to the direct transport.",
  "--aws-profile": "Belongs to --aws-sigv4.",
  "--aws-region": "Belongs to --aws-sigv4.",
  "--aws-service": "Belongs to --aws-sigv4.",
  [EXIT_ON_STDIN_CLOSE]: `End when standard input ends. ${EXIT_ON_STDIN_CLOSE_VARIABLE}=true says the same.`,
};

const OPTIONS: readonly CommandOption[] = [
  {
    name: "--connect",
    value: "<URL>",
    help: "The server: ws://HOST:PORT or wss://HOST:PORT. It should be reachable from its own machine only.",
  },
  ...SHARED_REMOTE_OPTIONS.map((spec) => withHelp(spec)),
  {
    name: "--log-level",
    value: "<LEVEL>",
    choices: LOG_LEVELS,
    help: "What to write to standard error. Default: info.",
  },
];

function withHelp(spec: OptionSpec): CommandOption {
  const completion = spec.value === "<PATH>" ? { completion: "file" as const } : {};
  return { ...spec, ...completion, help: HELP_TEXTS[spec.name]! };
}

export const forward: Command = {
  name: "forward",
  summary: "make a server that runs already a remote environment, through the relay",
  synopsis: ["[OPTIONS] --remote URL --environment-id ID --connect URL"],
  description: [
    "Registers with the registry at --remote, as the server with --remote does, and hands each stream that comes through " +
    "the relay on to a WebSocket of its own to the server at --connect, unread. Sessions are that server's: a client that " +
    "comes back finds its programs there.",
    "Whoever the registry lets in can do all that the server can, and the server sees clients of this machine without any " +
    "authentication of their own: let it listen on loopback only.",
  ],
  options: OPTIONS,
  operands: [],
  exitStatus: [
    ["0", "A signal, or the end of standard input, ended it."],
    ["1", "The registry refused it or cannot be reached, or a credential or an address is no good."],
    ["2", "The command line is wrong."],
  ],
  environment: [
    [EXIT_ON_STDIN_CLOSE_VARIABLE, `If true, ${EXIT_ON_STDIN_CLOSE} is meant.`],
    ["CODEX_API_KEY", "What is shown to the registry, unless an option names something else."],
    ["CODEX_HOME", "Where auth.json lies, which is used if there is no CODEX_API_KEY. Default: ~/.codex."],
    ["CODEX_ACCESS_TOKEN", "The Agent Identity of --use-agent-identity-auth."],
  ],
  examples: [
    [
      "forward --remote https://registry.example --environment-id build --registration-bearer-file ./token " +
      "--connect ws://127.0.0.1:8765",
      "Offer a server of this machine under a registry of your own:",
    ],
  ],

  /** In the words that the reference has for its command of this name. */
  read(argv, cli) {
    const reader = new ArgumentReader("exec-server forward", [...OPTIONS, HELP_OPTION], { required: REQUIRED });
    const read = reader.read(argv);
    const args = read.has(HELP_OPTION.name) ? read : withVariable(reader, read, (name) => cli.env(name));
    if (!args.has(HELP_OPTION.name)) requireSense(reader, args);
    const values = [...args].map(([name, value]) => {
      const repeated = reader.all(name);
      return [name, repeated.length > 0 ? repeated : [value]] as const;
    });
    return new CommandArguments(new Map(values), []);
  },

  async run(args, cli) {
    if (args.has("--aws-sigv4")) {
      throw new UsageError(
        1,
        args.get("--remote-transport") === "direct"
          ? "Error: direct exec-server transport does not support forwarding"
          : "Error: --aws-sigv4 requires --remote-transport direct",
      );
    }
    return await (await import("./forward_run.ts")).runForwardCommand(args, cli);
  },
};
