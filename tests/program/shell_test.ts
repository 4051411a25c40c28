import assert from "node:assert/strict";
import { testBothSides, testOurSide } from "./command_sides.ts";
import { CommandLine, type Terminal } from "./command_line.ts";

/** The modes of the terminal, as a program that a test leaves should find them again. */
const modes = (terminal: Terminal) => terminal.does("stty -a");

/** Starts a shell there and waits for its prompt, which is another one. */
async function enter(terminal: Terminal, connect: readonly string[]): Promise<void> {
  await terminal.type(`exec-server shell ${connect.join(" ")} -e PS1='far> ' -- sh -i\n`);
  await terminal.shows("\n");
  await terminal.shows("far> ");
}

testBothSides(
  "shell is a terminal there; its exit code is ours, and our terminal is as before",
  async ({ user, connect }) => {
    await using terminal = user.terminal();
    await terminal.shows("@> ");
    const before = await modes(terminal);
    await enter(terminal, connect);
    await terminal.type("echo $((6 * 7)) $TERM; exit 3\n");
    await terminal.shows("\n");
    await terminal.shows("42 xterm\r\n");
    await terminal.shows("@> ");
    assert.equal(await terminal.does("echo code $?"), "code 3\n");
    assert.equal(await modes(terminal), before);
  },
);

testBothSides(
  "Ctrl-C in a shell goes to the program there, and the terminal is as before afterwards",
  async ({ user, connect }) => {
    await using terminal = user.terminal();
    await terminal.shows("@> ");
    const before = await modes(terminal);
    await enter(terminal, connect);
    // Before the program is in the foreground the shell alone hears of Ctrl-C.
    await terminal.type("sh -c 'echo it runs; exec sleep 1000'\n");
    await terminal.shows("it runs\r\n");
    await terminal.type("\x03");
    await terminal.shows("far> ");
    await terminal.type("echo still $((1 + 1)) here\n");
    await terminal.shows("still 2 here\r\n");
    await terminal.shows("far> ");
    await terminal.type("\x04");
    await terminal.shows("@> ");
    assert.equal(await modes(terminal), before);
  },
);

testBothSides("the terminal is as before when the server was killed", async ({ user, server, connect }) => {
  await using terminal = user.terminal();
  await terminal.shows("@> ");
  const before = await modes(terminal);
  await enter(terminal, connect);
  server.child.kill("SIGKILL");
  await terminal.shows("the link to the server is lost; trying to get it back\r\n");
  await terminal.shows("(Ctrl-C gives up)\r\n");
  await terminal.type("\x03");
  await terminal.shows("given up; the program may still run");
  await terminal.shows("@> ");
  assert.equal(await modes(terminal), before);
});

Deno.test("the terminal is as before when a server of our own was killed under a shell", async () => {
  await using user = await CommandLine.create();
  await using terminal = user.terminal();
  await terminal.shows("@> ");
  const before = await modes(terminal);
  await enter(terminal, []);
  await terminal.type("kill -9 $PPID\n");
  await terminal.shows(/exec-server: the link to the server is lost, and the program may still run: .*\r\n/);
  await terminal.shows("@> ");
  assert.equal(await terminal.does("echo code $?"), "code 255\n");
  assert.equal(await modes(terminal), before);
});

testOurSide("the size of the window arrives, at the start and whenever it changes", async ({ user, connect }) => {
  await using terminal = user.terminal({ rows: 50, columns: 132 });
  await terminal.shows("@> ");
  await enter(terminal, connect);
  await terminal.type("stty size\n");
  await terminal.shows("\n50 132\r\n");
  await terminal.shows("far> ");
  // In a group of its own, which is what the terminal tells.
  await terminal.type(
    `sh -c 'trap "echo changed to \\$(stty size)" WINCH; echo ready; while :; do sleep 0.05; done'\n`,
  );
  await terminal.shows("\nready");
  terminal.resize({ rows: 33, columns: 99 });
  await terminal.shows("changed to 33 99\r\n");
  await terminal.type("\x03");
  await terminal.shows("far> ");
  await terminal.type("exit\n");
  await terminal.shows("@> ");
  assert.equal(await terminal.does("stty size"), "33 99\n");
});

testBothSides("a paste of 200000 bytes arrives whole", async ({ user, connect }) => {
  await using terminal = user.terminal();
  await terminal.shows("@> ");
  await enter(terminal, connect);
  const random = crypto.getRandomValues(new Uint8Array(50_000));
  const paste = new Uint8Array(200_000);
  for (let i = 0; i < 4; i++) paste.set(random, i * random.length);
  const digest = new Uint8Array(await crypto.subtle.digest("SHA-256", paste)).toHex();
  await terminal.type("stty raw -echo; echo now; head -c 200000 | sha256sum; stty sane\n");
  await terminal.shows("\nnow\n");
  await terminal.type(paste);
  assert.equal((await terminal.shows("  -")).trim(), digest);
  await terminal.shows("far> ");
  await terminal.type("exit\n");
  await terminal.shows("@> ");
});

testBothSides("a program there that moves the cursor by itself is not disturbed", async ({ user, connect }) => {
  await using terminal = user.terminal();
  await terminal.shows("@> ");
  await enter(terminal, connect);
  await terminal.type("stty raw -echo; printf 'a\\nb\\n'; stty sane; echo\n");
  await terminal.shows("\n");
  await terminal.shows("a\nb\n");
  await terminal.shows("far> ");
  await terminal.type("exit\n");
  await terminal.shows("@> ");
});

Deno.test("shell without a terminal is refused in words", async () => {
  await using user = await CommandLine.create();
  const { code, stderr } = await user.run(["shell"]);
  assert.equal(code, 125);
  assert.match(stderr, /^error: a shell needs a terminal for its input and output; `exec-server exec` does without\n/);
});

testBothSides("shell takes the server's own shell unless told otherwise", async ({ user, connect }) => {
  await using terminal = user.terminal();
  await terminal.shows("@> ");
  await terminal.type(`exec-server shell ${connect.join(" ")}\n`);
  await terminal.shows("\n");
  await terminal.type("echo shell=$0=\n");
  await terminal.shows(/shell=\/[^=]*sh=\r\n/);
  await terminal.type("exit\n");
  await terminal.shows("@> ");
});
