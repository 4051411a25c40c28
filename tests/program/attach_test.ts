import assert from "node:assert/strict";
import { type Scene, testBothSides, testOurSide } from "./command_sides.ts";
import { CommandLine } from "./command_line.ts";
import { inTime } from "./eventually.ts";

/** Leaves a shell script running in the user's home. @returns Its id. */
async function detached({ user, connect }: Scene, options: readonly string[], script: string): Promise<string> {
  const argv = ["exec", ...connect, "--detach", "--cwd", user.home, ...options, "--", "sh", "-c", script];
  const { code, stdout, stderr } = await user.run(argv);
  assert.equal(code, 0, stderr);
  assert.match(stdout, /^[0-9a-f]{12}\n$/);
  return stdout.trim();
}

testBothSides("attach shows a detached program from its beginning and ends with its exit code", async (scene) => {
  const id = await detached(
    scene,
    [],
    "echo first; echo err >&2; while [ ! -e go ]; do sleep 0.05; done; echo last; exit 6",
  );
  const child = scene.user.spawn(["attach", id.slice(0, 6)]);
  const stderr = new Response(child.stderr).text();
  const reader = child.stdout.pipeThrough(new TextDecoderStream()).getReader();
  assert.equal((await inTime("the first line", reader.read())).value, "first\n");
  await Deno.writeTextFile(`${scene.user.home}/go`, "");
  assert.equal((await inTime("the last line", reader.read())).value, "last\n");
  assert.ok((await reader.read()).done);
  assert.equal((await child.status).code, 6);
  assert.equal(await stderr, "err\n");
  await child.stdin.close();
});

testBothSides("a detached program that has ended is still there to be looked at", async (scene) => {
  const id = await detached(scene, [], "echo done; exit 3");
  const { code, stdout } = await scene.user.run(["attach", "--no-stdin", id]);
  assert.deepEqual([code, stdout], [3, "done\n"]);
});

testOurSide("attach passes on input and its end", async (scene) => {
  const id = await detached(scene, ["-i"], "cat; echo end");
  const { code, stdout, stderr } = await scene.user.run(["attach", id], { input: "one\n" });
  assert.deepEqual([code, stdout, stderr], [0, "one\nend\n", ""]);
});

testBothSides("attach can be left by SIGTERM, and a second one writes what the first could have", async (scene) => {
  const id = await detached(scene, ["-i"], "read a; echo a=$a; read b; echo b=$b");
  const child = scene.user.spawn(["attach", id]);
  const reader = child.stdout.pipeThrough(new TextDecoderStream()).getReader();
  const writer = child.stdin.getWriter();
  await writer.write(new TextEncoder().encode("one\n"));
  assert.equal((await inTime("an answer", reader.read())).value, "a=one\n");
  child.kill("SIGTERM");
  assert.equal((await inTime("the end of attach", child.status)).code, 143);
  await Promise.all([writer.close().catch(() => {}), reader.cancel(), child.stderr.cancel()]);
  const { code, stdout } = await scene.user.run(["attach", id], { input: "two\n" });
  assert.deepEqual([code, stdout], [0, "a=one\nb=two\n"]);
});

testBothSides("on a terminal Ctrl-P Ctrl-Q leaves the program running and the terminal as before", async (scene) => {
  const { user } = scene;
  const id = await detached(scene, ["-t"], "PS1='far> ' exec sh -i");
  await using terminal = user.terminal();
  await terminal.shows("@> ");
  const before = await terminal.does("stty -a");
  for (const word of ["one", "two"]) {
    await terminal.type(`exec-server attach ${id}\n`);
    await terminal.shows("Ctrl-P Ctrl-Q leaves the program running.\r\n");
    await terminal.shows("far> ");
    await terminal.type(`echo $((1 + 1)) ${word}\n`);
    await terminal.shows(`2 ${word}\r\n`);
    await terminal.shows("far> ");
    await terminal.type("\x10\x11");
    await terminal.shows("The program runs on");
    await terminal.shows("@> ");
    assert.equal(await terminal.does("echo code $?"), "code 0\n");
    assert.equal(await terminal.does("stty -a"), before);
  }
  await terminal.type(`exec-server attach ${id}\n`);
  // All of it is shown again.
  await terminal.shows("2 one\r\n");
  await terminal.shows("2 two\r\n");
  await terminal.type("exit 4\n");
  await terminal.shows("@> ");
  assert.equal(await terminal.does("echo code $?"), "code 4\n");
  assert.equal(await terminal.does("stty -a"), before);
});

testBothSides("Ctrl-C in attach interrupts a program without a terminal", async (scene) => {
  const id = await detached(scene, [], "trap 'echo got it; exit 7' INT; echo ready; while :; do sleep 0.05; done");
  await using terminal = scene.user.terminal();
  await terminal.shows("@> ");
  await terminal.type(`exec-server attach ${id}\n`);
  await terminal.shows("ready\r\n");
  await terminal.type("\x03");
  await terminal.shows("got it\r\n");
  await terminal.shows("@> ");
  assert.equal(await terminal.does("echo code $?"), "code 7\n");
});

testBothSides("exec --detach says how long the program stays, and prints JSON for programs", async (scene) => {
  const { user, connect, extended } = scene;
  const argv = ["exec", ...connect, "--detach", "--json", "--keep", "2h", "--", "sleep", "1000"];
  const { code, stdout, stderr } = await user.run(argv);
  assert.equal(code, 0);
  const { processId, sessionId, keptMs } = JSON.parse(stdout);
  assert.match(processId, /^[0-9a-f]{12}$/);
  assert.equal(typeof sessionId, "string");
  assert.equal(keptMs, extended ? 7_200_000 : 80_000);
  assert.equal(
    stderr,
    extended
      ? ""
      : "exec-server: this server ends the program 80s after this command, unless somebody attaches to it before\n",
  );
});

testBothSides("a detached program that cannot be run is not remembered", async ({ user, connect }) => {
  const { code, stderr } = await user.run(["exec", ...connect, "--detach", "--", "nosuchprogram"]);
  assert.equal(code, 127);
  assert.match(stderr, /^exec-server: cannot run 'nosuchprogram': /);
  assert.deepEqual([...Deno.readDirSync(`${user.home}/.local/state/exec-server/detached`)], []);
});

testBothSides(
  "a time limit goes with a detached program only where the server keeps it",
  async ({ user, connect, extended }) => {
    const { code, stdout, stderr } = await user.run([
      "exec",
      ...connect,
      "--detach",
      "--timeout",
      "300ms",
      "sleep",
      "1000",
    ]);
    if (extended) {
      const attached = await user.run(["attach", "--no-stdin", stdout.trim()]);
      assert.equal(attached.code, 124);
    } else {
      assert.equal(code, 125);
      assert.match(stderr, /this server cannot keep a time limit/);
    }
  },
);

Deno.test("exec --detach without a server that stays is refused in words", async () => {
  await using user = await CommandLine.create();
  const { code, stdout, stderr } = await user.run(["exec", "--detach", "--", "sleep", "1000"]);
  assert.deepEqual([code, stdout], [125, ""]);
  assert.match(
    stderr,
    /^error: the argument '--detach' needs '--connect <URL>' or '--env <NAME>': without them the server is started by this command and ends with it, and the program too\n/,
  );
});

Deno.test("options that belong to --detach are refused without it", async () => {
  await using user = await CommandLine.create();
  for (const option of [["--keep", "1h"], ["--json"]]) {
    const { code, stderr } = await user.run(["exec", ...option, "--", "true"]);
    assert.equal(code, 125);
    assert.ok(stderr.startsWith(`error: the argument '${option[0]}' needs '--detach'\n`), stderr);
  }
});
