import type { Command } from "./command.ts";
import { CONNECTION_ENVIRONMENT, CONNECTION_OPTIONS } from "./connection_options.ts";
import { JSON_OPTION } from "./say.ts";

export const cp: Command = {
  name: "cp",
  summary: "copy files and directories to the environment, and back",
  synopsis: ["[OPTIONS] SOURCE... env:TARGET", "[OPTIONS] env:SOURCE... TARGET"],
  description: [
    "Copies files and directories from this machine to the environment, or from there to here: what begins with env: is " +
    "a path of the environment, relative to the server's directory unless it is absolute; a local file of such a name is " +
    "./env:NAME. A path of the environment may be a file: URI, env:file:///..., for names that are not UTF-8. The " +
    "operand - is standard input as the source, or standard output as the target, of one file.",
    "Where a copy goes is as with cp -r: into TARGET under the source's name if TARGET is a directory, else it is called " +
    "TARGET. DIRECTORY/. means what is in the directory. A link that is named is followed; links inside of a directory " +
    "are copied as links. Nothing that is fetched is written through a link that was not named: not all that is here need " +
    "be yours, and servers need not be trusted.",
    "A file is written under another name beside its target, .NAME.KEY.exec-server-part, and renamed when its length is " +
    "right, so that the target is the old file or the new one and never a part of it. Into the environment that takes " +
    "mv on its machine; where there is none, the finished file is copied over its target there, which is quick but not at " +
    "once (on a full disk the old content is lost), and the command says so. Permission bits are kept (by chmod and ls of " +
    "that machine); set-id bits, owners and the times of single files are not.",
    "An interrupted or cut download leaves its part and is continued by the same command, if size and time of the source " +
    "are still the same. An upload begins anew: no server can continue a file. Interrupting an upload removes its part.",
    "A directory travels as one archive where both sides have tar (and the environment sh, mv and mkdir): permission bits, " +
    "times, links, and names that are not UTF-8 are kept. Devices, fifos and sockets are left out. A new directory " +
    "appears when it is whole. One that exists keeps its own bits: to it a fetched one is added when everything has come, which takes its space " +
    "twice for that long; one that is brought is added entry by entry, and an interruption can leave a part of an entry " +
    "there. A server without our extensions needs space for the archive as well: beside the target, or in its directory " +
    "for temporary files. Without tar on one of the sides every file is copied by itself, and the command says what was " +
    "not kept.",
    "A terminal shows a progress bar if it takes a while.",
  ],
  options: [
    ...CONNECTION_OPTIONS,
    { name: "--quiet", short: "-q", help: "No progress bar." },
    {
      ...JSON_OPTION,
      help: `${JSON_OPTION.help} It is one: files, directories, bytes (that were sent or fetched), complete and notes.`,
    },
  ],
  operands: [
    { name: "SOURCE", help: "What to copy.", completion: "file" },
    {
      name: "TARGET",
      help: "Where to. With more than one SOURCE it is a directory.",
      repeated: true,
      completion: "file",
    },
  ],
  exitStatus: [
    ["0", "Everything was copied."],
    ["1", "Something was not; standard error says what."],
    ["2", "The command line is wrong."],
    ["129, 130, 143", "Interrupted by SIGHUP, SIGINT or SIGTERM."],
  ],
  environment: CONNECTION_ENVIRONMENT,
  examples: [
    ["cp --connect ws://127.0.0.1:8765 notes.txt env:/tmp/", "Bring a file:"],
    ["cp --connect ws://127.0.0.1:8765 env:/var/log/big.log .", "Fetch a file; the same again continues it:"],
    ["cp --connect ws://127.0.0.1:8765 src env:/srv/src", "Bring a directory:"],
    ["cp --connect ws://127.0.0.1:8765 env:/srv/src/. src", "Fetch what is in a directory into one that exists:"],
    ["cp --connect ws://127.0.0.1:8765 - env:/tmp/list", "Write a file from standard input:"],
  ],

  async run(args, cli) {
    return await (await import("./cp_run.ts")).runCp(cp, args, cli);
  },
};
