import type { Command, CommandOption } from "./command.ts";
import { CONNECTION_ENVIRONMENT, CONNECTION_OPTIONS } from "./connection_options.ts";
import { durationFlaw } from "./duration.ts";
import { JSON_OPTION } from "./say.ts";

/** Every failure of ours, so that it can be told from the program's own exit codes. */
export const OUR_FAILURE_CODE = 125;

export const CWD_OPTION: CommandOption = {
  name: "--cwd",
  short: "-w",
  value: "<DIR>",
  notEmpty: true,
  completion: "directory",
  help: "The program's directory on the server's machine, absolute or relative to the server's own. Default: the " +
    "server's own.",
};

export const ENV_VAR_OPTION: CommandOption = {
  name: "--env-var",
  short: "-e",
  value: "<NAME[=VALUE]>",
  repeatable: true,
  check: (text) => (/^[^=\0]+(=|$)/.test(text) ? undefined : "NAME=VALUE or NAME is expected"),
  help: "A variable for the program besides those that the server gives (PATH, HOME and the like). Without =VALUE it " +
    "has the value that it has here: the way for secrets, which others could read on a command line.",
};

export const PROGRAM_EXIT_STATUS: Command["exitStatus"] = [
  ["124", "The time limit was reached."],
  ["125", "We failed: the command line is wrong, there is no connection, or the output could not be had whole."],
  ["126", "The program is there and cannot be run, or its directory is missing."],
  ["127", "The program was not found."],
  ["128+N", "Signal N ended the program; standard error says which."],
  ["141", "Nobody read our output any more, so the program was killed."],
  ["255", "The link to the server was lost and could not be had back; the program may still run."],
];

export const exec: Command = {
  name: "exec",
  summary: "run a program where the server is, as if it ran here",
  synopsis: ["[OPTIONS] [--] PROGRAM [ARGUMENT]...", "--detach (--connect URL | --env NAME) [OPTIONS] [--] PROGRAM..."],
  description: [
    "Runs PROGRAM on the machine of the server: its output and error output come out here, each on its own descriptor " +
    "and no faster than they are read, and its exit code is ours. There is no shell between: for pipes and the like run " +
    "one, as in the examples. Without --connect and --env a server of our own runs it on this machine.",
    "INPUT. When standard input is a pipe or a file, the program reads it, and its end is passed on, whether or not -i is " +
    "given (as with ssh). When it is a terminal, the program's input is empty, unless -i or -t is given (as with docker " +
    "exec). In a loop that reads from standard input itself, add </dev/null. A server without our extensions cannot end " +
    "a program's input: it is passed on, and a program that reads to the end waits for ever; we say so then.",
    "SIGNALS. Ctrl-C sends SIGINT to the program and its children; a second one SIGTERM, a third one SIGKILL, and a fourth " +
    "one leaves. SIGTERM, SIGHUP and SIGQUIT that we get are passed on; a program on a terminal gets SIGHUP for SIGTERM, " +
    "which shells ignore. A server without our extensions knows SIGINT only; the program is killed for the others. With -t " +
    "on a terminal Ctrl-C is a key like any other and goes to the program's terminal. While the link to the server is lost " +
    "Ctrl-C gives up.",
    "END. We end with the program once what it wrote has come out. Children that it left behind and that still hold its " +
    "output are not waited for (as with docker, unlike with ssh): output that stays away for 250 ms, or trickles for 2 s, " +
    "is not the program's own. What they do later nobody sees; they end with the server's session. If the link is " +
    "lost, it is tried for 45 s to get it and everything missed back.",
  ],
  options: [
    ...CONNECTION_OPTIONS,
    CWD_OPTION,
    ENV_VAR_OPTION,
    {
      name: "--timeout",
      value: "<DURATION>",
      check: durationFlaw,
      help:
        "Kill the program after this time: 500ms, 30s, 5m, 2h, 1d. The server keeps the limit, also when the link is " +
        "lost; where it cannot, we do.",
    },
    {
      name: "--tty",
      short: "-t",
      help:
        "Give the program a terminal, of the size of ours. Ours then hands every key on as it is, and is put back at " +
        "the end. Standard error comes out on standard output. If standard input is no terminal, its end is the key " +
        "Ctrl-D.",
    },
    { name: "--interactive", short: "-i", help: "Pass on standard input although it is a terminal. -t does as well." },
    {
      name: "--detach",
      short: "-d",
      help:
        "Only start the program, print its id and leave it running: see ps, logs, attach and kill. Its input is empty, " +
        "unless -i or -t keeps it open for attach.",
    },
    {
      name: "--keep",
      value: "<DURATION>",
      check: durationFlaw,
      help:
        "With --detach: how long the program may stay without any of us connected. Default 24h; the server may grant " +
        "less. One without our extensions ends it after 80s.",
    },
    {
      ...JSON_OPTION,
      help: "With --detach: print the id as JSON, with the session's. (Else all output is the program's.)",
    },
  ],
  operands: [
    { name: "PROGRAM", help: "A path on the server's machine, or a name to be found on the PATH there." },
    { name: "ARGUMENT", help: "Passed on as it is.", optional: true, repeated: true },
  ],
  trailing: true,
  exitStatus: [["CODE", "That of the program, unless it is one of these:"], ...PROGRAM_EXIT_STATUS],
  failureCode: OUR_FAILURE_CODE,
  environment: CONNECTION_ENVIRONMENT,
  examples: [
    ["exec -- echo hello", "The first thing to try; it needs no server:"],
    ["exec -- sh -c 'ls | wc -l'", "A pipe needs a shell:"],
    [
      "exec --connect ws://127.0.0.1:8765 --cwd src --timeout 5m -- make test",
      "Run the tests elsewhere, at most 5 minutes:",
    ],
    ["exec -e API_KEY -- ./deploy", "Hand on a secret without showing it:"],
    ["exec -t -- top", "A program that needs a terminal:"],
    ["exec --connect ws://127.0.0.1:8765 --detach -- ./build.sh", "Leave something running and look at it later:"],
  ],

  async run(args, cli) {
    return await (await import("./exec_run.ts")).runExec(exec, args, cli);
  },
};
