import assert from "node:assert/strict";
import { runCommand } from "../../lib/cli/dispatch.ts";
import { FakeCli } from "./fake_cli.ts";

async function run(argv: string[], cli = new FakeCli()) {
  const code = await runCommand(argv, cli);
  return { code, stdout: cli.stdout.text, stderr: cli.stderr.text };
}

Deno.test("a word of no command is left to the server, unless it is like one", async () => {
  assert.deepEqual(await run(["xyz"]), { code: undefined, stdout: "", stderr: "" });
  assert.deepEqual(await run(["toString"]), { code: undefined, stdout: "", stderr: "" });
  const { code, stdout, stderr } = await run(["exce", "--", "ls"]);
  assert.deepEqual([code, stdout], [2, ""]);
  assert.match(stderr, /^error: there is no command 'exce'\n\n {2}tip: a similar command exists: 'exec'\n/);
});

Deno.test("every command has a page by --help", async () => {
  const { code, stdout, stderr } = await run(["completions", "--help"]);
  assert.deepEqual([code, stderr], [0, ""]);
  assert.match(stdout, /^NAME\n {7}exec-server completions - /);
});

Deno.test("a wrong command line ends with 2, and with the command's own code where it has one", async () => {
  const { code, stderr } = await run(["completions"]);
  assert.equal(code, 2);
  assert.match(stderr, /^error: what is missing: SHELL\n\nUsage: exec-server completions/);
  assert.equal((await run(["exec"])).code, 125);
});

Deno.test("a reader that has gone ends a command quietly, as SIGPIPE would", async () => {
  const cli = new FakeCli();
  cli.stdout.isGone = true;
  assert.deepEqual(await run(["help"], cli), { code: 141, stdout: "", stderr: "" });
  cli.stderr.isGone = true;
  assert.equal((await run(["completions"], cli)).code, 2);
});

Deno.test("a failure cannot command the terminal", async () => {
  const cli = new FakeCli();
  cli.stderr.isTerminal = true;
  await run(["completions", "\x1b[2J"], cli);
  assert.match(cli.stderr.text, /^error: .*'\\x1b\[2J'.*\n/);
});

Deno.test("who cannot connect is shown the way to the doctor", async () => {
  const argv = ["exec", "--connect", "ws://192.0.2.1:1", "--", "true"];
  const cli = new FakeCli();
  cli.variables["EXEC_SERVER_TOKEN"] = "t";
  cli.stdin.isTerminal = true;
  assert.doesNotMatch((await run(argv, cli)).stderr, /doctor/);
  cli.stderr.isTerminal = true;
  const { code, stderr } = await run(argv, cli);
  assert.equal(code, 125);
  assert.match(stderr, /require wss:.*\n.*exec-server doctor, with the same --connect/);
});

Deno.test("help knows the command that it is asked for", async () => {
  assert.match((await run(["help", "exec"])).stdout, /^NAME\n {7}exec-server exec - /);
  const { code, stderr } = await run(["help", "shel"]);
  assert.equal(code, 2);
  assert.match(stderr, /there is no command 'shel'\n\n {2}tip: a similar command exists: 'shell'/);
});
