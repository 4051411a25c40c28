import assert from "node:assert/strict";
import { isAlive } from "../support/linux.ts";
import { CommandLine, type Terminal } from "./command_line.ts";
import { testBothSides, testOurSide } from "./command_sides.ts";
import { eventually } from "./eventually.ts";

testBothSides("exec on a terminal reads no key unless it is told to", async ({ user, connect }) => {
  await using terminal = user.terminal();
  await terminal.shows("@> ");
  await terminal.type(`exec-server exec ${connect.join(" ")} -- sh -c 'cat; echo end; sleep 0.5'\n`);
  await terminal.shows("end\r\n");
  // This is for the shell.
  await terminal.type("echo $((40 + 2)) is mine\n");
  await terminal.shows("42 is mine\r\n");
});

testOurSide("exec -i on a terminal passes on lines, and Ctrl-D as the end", async ({ user, connect }) => {
  await using terminal = user.terminal();
  await terminal.shows("@> ");
  await terminal.type(
    `exec-server exec ${connect.join(" ")} -i -- sh -c 'echo ready; while read x; do echo "got $x"; done; echo end'\n`,
  );
  await terminal.shows("\nready\r\n");
  await terminal.type("one\n");
  await terminal.shows("got one\r\n");
  await terminal.type("\x04");
  await terminal.shows("end\r\n");
  await terminal.shows("@> ");
});

testBothSides(
  "Ctrl-C on a terminal interrupts the program and tells what another one would do",
  async ({ user, connect, extended }) => {
    await using terminal = user.terminal();
    await terminal.shows("@> ");
    const before = await terminal.does("stty -a");
    await terminal.type(
      `exec-server exec ${
        connect.join(" ")
      } -- sh -c 'trap "sleep 0.3; exit 9" INT; echo ready; while :; do sleep 0.1; done'\n`,
    );
    await terminal.shows("\nready\r\n");
    await terminal.type("\x03");
    await terminal.shows(`SIGINT was sent; Ctrl-C again sends ${extended ? "SIGTERM" : "SIGKILL"}\r\n`);
    await terminal.shows("@> ");
    assert.equal(await terminal.does("echo code $?"), "code 9\n");
    assert.equal(await terminal.does("stty -a"), before);
  },
);

testBothSides("the last Ctrl-C leaves a server that does not answer", async ({ user, server, connect, extended }) => {
  await using terminal = user.terminal();
  await terminal.shows("@> ");
  await terminal.type(`exec-server exec ${connect.join(" ")} -- sh -c 'echo rea""dy; exec sleep 1000'\n`);
  await terminal.shows("ready\r\n");
  server.child.kill("SIGSTOP");
  try {
    for (const signal of extended ? ["SIGINT", "SIGTERM", "SIGKILL"] : ["SIGINT", "SIGKILL"]) {
      await terminal.type("\x03");
      await terminal.shows(`${signal} was sent; Ctrl-C again `);
    }
    await terminal.type("\x03");
    await terminal.shows("@> ");
    assert.equal(await terminal.does("echo $?"), "130\n");
  } finally {
    server.child.kill("SIGCONT");
  }
});

Deno.test("Ctrl-C on a terminal reaches the program, and not a server of our own", async () => {
  await using user = await CommandLine.create();
  await using terminal = user.terminal();
  await terminal.shows("@> ");
  const script = `trap "echo cleaning up; exit 9" INT; echo ready; while :; do sleep 0.1; done`;
  await terminal.type(`exec-server exec -- sh -c '${script}'\n`);
  await terminal.shows("\nready\r\n");
  await terminal.type("\x03");
  await terminal.shows("cleaning up\r\n");
  await terminal.shows("@> ");
  assert.equal(await terminal.does("echo code $?"), "code 9\n");
});

/** Starts a shell there, and waits for its prompt. @returns The process id of our command. */
async function startShell(terminal: Terminal, connect: readonly string[]): Promise<number> {
  await terminal.type(`exec-server shell ${connect.join(" ")} -e PS1='far> ' -- sh -i & echo pid=$!=; fg\n`);
  await terminal.shows("\n");
  await terminal.shows("pid=");
  const pid = Number(await terminal.shows("="));
  assert.ok(pid > 1);
  // Our shell shows what it brings to the foreground.
  await terminal.shows("sh -i\r\n");
  await terminal.shows("far> ");
  return pid;
}

testBothSides("SIGTERM ends a shell on a terminal, which is as before", async ({ user, connect }) => {
  await using terminal = user.terminal();
  await terminal.shows("@> ");
  const before = await terminal.does("stty -a");
  const pid = await startShell(terminal, connect);
  Deno.kill(pid, "SIGTERM");
  await terminal.shows("@> ");
  assert.equal(await terminal.does("stty -a"), before);
});

testBothSides("a program ends when the window of its exec is closed", async ({ user, connect }) => {
  const terminal = user.terminal();
  await terminal.shows("@> ");
  await terminal.type(`exec-server exec ${connect.join(" ")} -t -- sh -c 'echo far=$$=; exec sleep 1000'\n`);
  await terminal.shows("\n");
  await terminal.shows("far=");
  const far = Number(await terminal.shows("="));
  const near = Number(new TextDecoder().decode(
    (await new Deno.Command("pgrep", { args: ["-f", `exec ${connect.join(" ")}`] }).output()).stdout,
  ));
  assert.ok(far > 1 && near > 1);
  await terminal[Symbol.asyncDispose]();
  await eventually("the program there is gone", () => assert.ok(!isAlive(far)));
  await eventually("exec is gone", () => assert.ok(!isAlive(near)));
});

testOurSide("exec that is stopped and continued has its terminal again", async ({ user, connect }) => {
  await using terminal = user.terminal();
  await terminal.shows("@> ");
  await terminal.does("stty sane");
  const before = await terminal.does("stty -a");
  const pid = await startShell(terminal, connect);
  Deno.kill(pid, "SIGSTOP");
  await terminal.shows("@> ");
  // Our shell leaves the modes as they are, raw and without an echo; other shells do this by themselves.
  await terminal.type("stty sane\n");
  await terminal.shows("@> ");
  await terminal.type("fg\n");
  await terminal.shows("\n");
  await terminal.type("\necho $((40 + 2)); exit\n");
  await terminal.shows("42\r\n");
  await terminal.shows("@> ");
  assert.equal(await terminal.does("stty -a"), before);
});
