import assert from "node:assert/strict";
import { CommandLine } from "./command_line.ts";

Deno.test("a word of no command is refused as ever, and one that is like a command gets a tip", async () => {
  await using user = await CommandLine.create();
  assert.deepEqual(await user.run(["xyz"]), {
    code: 2,
    stdout: "",
    stderr: "error: unexpected argument 'xyz' found\n\nUsage: exec-server [OPTIONS]\n\n" +
      "For more information, try '--help'.\n",
  });
  const { code, stderr } = await user.run(["shel"]);
  assert.equal(code, 2);
  assert.match(stderr, /^error: there is no command 'shel'\n\n {2}tip: a similar command exists: 'shell'\n/);
});

Deno.test("a command's name is one only in the first place", async () => {
  await using user = await CommandLine.create();
  const { code, stderr } = await user.run(["--listen", "ws://127.0.0.1:0", "exec"]);
  assert.equal(code, 2);
  assert.match(stderr, /^error: unexpected argument 'exec' found\n/);
});

Deno.test("--help and help show the server's options and every command", async () => {
  await using user = await CommandLine.create();
  const [flag, command] = await Promise.all([user.run(["--help"]), user.run(["help"])]);
  assert.deepEqual(flag, command);
  assert.equal(flag.code, 0);
  assert.match(flag.stdout, /^ {6}--listen <URL>$/m);
  assert.match(flag.stdout, /^ {2}exec +run a program where the server is, as if it ran here$/m);
});

Deno.test("a page whose reader has left ends quietly", async () => {
  await using user = await CommandLine.create();
  for (const page of ["help exec", "--help"]) {
    const script = `exec-server ${page} | true; exec-server ${page} > /dev/full`;
    const options = { args: ["-c", script], clearEnv: true, env: { ...user.env } };
    const { code, stderr } = await new Deno.Command("sh", options).output();
    assert.equal(code, 1);
    assert.equal(
      new TextDecoder().decode(stderr),
      "exec-server: cannot write to standard output: No space left on device (os error 28)\n",
    );
  }
});

Deno.test("a terminal gets a page in bold letters, and none with NO_COLOR", async () => {
  await using user = await CommandLine.create();
  await using terminal = user.terminal();
  await terminal.shows("@> ");
  assert.match(await terminal.does("exec-server exec --help | cat"), /^NAME\n/);
  assert.match(await terminal.does("exec-server exec --help"), /^NAME\n/);
  assert.ok((await terminal.does("NO_COLOR= exec-server exec --help")).startsWith("\x1b[1mNAME\x1b[0m\n"));
});
