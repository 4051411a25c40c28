import assert from "node:assert/strict";
import type { Command } from "../../lib/cli/command.ts";
import { parseCommand } from "../../lib/cli/parse_command.ts";

const command: Command = {
  name: "try",
  summary: "a command of this test",
  synopsis: ["[OPTIONS] FROM [TO]"],
  description: [],
  options: [
    { name: "--follow", short: "-f", help: "" },
    {
      name: "--lines",
      short: "-n",
      value: "<COUNT>",
      check: (text) => (/^\d+$/.test(text) ? undefined : "no number"),
      help: "",
    },
    { name: "--env-var", short: "-e", value: "<NAME=VALUE>", repeatable: true, help: "" },
    { name: "--colour", value: "<WHEN>", choices: ["always", "never"], help: "" },
  ],
  operands: [{ name: "FROM", help: "" }, { name: "TO", help: "", optional: true }],
  exitStatus: [],
  examples: [],
  run: () => Promise.resolve(0),
};
const trailing: Command = { ...command, trailing: true, operands: [{ name: "PROGRAM", help: "", repeated: true }] };

/** The first line of the refusal. */
function refusal(argv: string[], of: Command = command): string {
  try {
    parseCommand(of, argv);
  } catch (error) {
    assert.equal((error as { exitCode?: number }).exitCode, 2);
    return (error as Error).message.split("\n")[0]!;
  }
  throw new Error(`not refused: ${argv.join(" ")}`);
}

Deno.test("options come long, with = or a blank, short, in clusters and with values attached", () => {
  const args = parseCommand(command, ["-fn3", "--env-var=A=1", "from", "-e", "B=2", "-eC=3", "--colour", "never"]);
  assert.ok(args.has("--follow"));
  assert.equal(args.get("--lines"), "3");
  assert.deepEqual(args.all("--env-var"), ["A=1", "B=2", "C=3"]);
  assert.equal(args.get("--colour"), "never");
  assert.deepEqual(args.operands, ["from"]);
});

Deno.test("after -- nothing is an option, and a dash alone is an operand", () => {
  assert.deepEqual(parseCommand(command, ["--", "-f", "--lines"]).operands, ["-f", "--lines"]);
  assert.deepEqual(parseCommand(command, ["-", "-f"]).operands, ["-"]);
});

Deno.test("a program's own command line begins with the first operand, with and without --", () => {
  assert.deepEqual(parseCommand(trailing, ["-f", "ls", "-l", "--", "-f"]).operands, ["ls", "-l", "--", "-f"]);
  const args = parseCommand(trailing, ["--", "ls", "-f", "--help"]);
  assert.deepEqual(args.operands, ["ls", "-f", "--help"]);
  assert.ok(!args.has("--follow") && !args.has("--help"));
});

Deno.test("a value may begin with a dash or be a command's name", () => {
  assert.deepEqual(parseCommand(command, ["-e", "-f", "from"]).all("--env-var"), ["-f"]);
});

Deno.test("help is found before anything is missing", () => {
  assert.ok(parseCommand(command, ["-fh"]).has("--help"));
  assert.ok(parseCommand(command, ["--help", "--nonsense"]).has("--help"));
});

Deno.test("a flag may be repeated, an option with a value only where that means something", () => {
  assert.ok(parseCommand(command, ["-ff", "from"]).has("--follow"));
  assert.equal(refusal(["-n1", "-n2", "x"]), "error: the argument '--lines <COUNT>' cannot be used multiple times");
});

Deno.test("what cannot be followed is named", () => {
  assert.equal(refusal([]), "error: what is missing: FROM");
  assert.equal(refusal(["a", "b", "c"]), "error: unexpected argument 'c' found");
  assert.equal(refusal(["--folow", "x"]), "error: unexpected argument '--folow' found");
  assert.equal(refusal(["-fx", "a"]), "error: unexpected argument '-x' found");
  assert.equal(refusal(["--follow=yes", "a"]), "error: the option '--follow' takes no value, and 'yes' was given");
  assert.equal(refusal(["a", "--lines"]), "error: a value is required for '--lines <COUNT>' but none was supplied");
  assert.equal(refusal(["--lines=x", "a"]), "error: invalid value 'x' for '--lines <COUNT>': no number");
  assert.equal(refusal(["--colour=red", "a"]), "error: invalid value 'red' for '--colour <WHEN>'");
  assert.equal(refusal(["toString"], { ...command, operands: [] }), "error: unexpected argument 'toString' found");
});

Deno.test("a refusal shows a similar option, the forms of the command and where its page is", () => {
  assert.throws(() => parseCommand(command, ["--folow"]), {
    message: "error: unexpected argument '--folow' found\n\n  tip: a similar argument exists: '--follow'\n\n" +
      "Usage: exec-server try [OPTIONS] FROM [TO]\n\nFor more information, try 'exec-server try --help'.",
  });
});
