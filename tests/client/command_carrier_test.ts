import assert from "node:assert/strict";
import { commandCarrier } from "../../lib/client/command_carrier.ts";
import { connectCommand } from "../../lib/client/connect.ts";
import type { CommandOptions } from "../../lib/client/node/spawn_command.ts";
import { createLog } from "../../lib/log.ts";
import { marked } from "../program/proc.ts";
import { Recorder } from "../support/recorder.ts";

const never = new AbortController().signal;
/** These are POSIX shell scripts, and leftovers are looked for in /proc. */
const ignore = Deno.build.os !== "linux";

/** A shell script as the server; all that it starts carries the mark. */
class Scene {
  readonly mark = `EXEC_SERVER_TEST_MARK=${crypto.randomUUID()}`;

  command(script: string, more: Partial<CommandOptions> = {}): CommandOptions {
    const [name, value] = this.mark.split("=") as [string, string];
    return { program: "/bin/sh", args: ["-c", script], ...more, env: { [name]: value, ...more.env } };
  }

  async open(script: string, more: Partial<CommandOptions> = {}) {
    const { connection, gone } = await commandCarrier(this.command(script, more)).open({ signal: never });
    return { connection, gone: gone!, heard: new Recorder(connection) };
  }

  nothingLeft(): void {
    assert.deepEqual(marked(this.mark), []);
  }
}

Deno.test({ name: "a command speaks in lines, and ends with its connection", ignore }, async () => {
  const scene = new Scene();
  const carrier = commandCarrier(scene.command(""));
  assert.deepEqual([carrier.label, carrier.resume, carrier.renewable], ["exec-server stdio command", null, false]);
  const { connection, gone, heard } = await scene.open(`read a; echo "$a 1"; echo; echo "  "; exec cat`);
  assert.equal(connection.label, carrier.label);
  assert.equal(connection.malformedPrefix, `failed to parse JSON-RPC message from ${carrier.label}: `);
  connection.send("one");
  connection.send("two");
  assert.deepEqual(await heard.received(2), ["one 1", "two"]);
  connection.close();
  assert.deepEqual(heard.ends, [{ reason: "closed by us" }]);
  await gone;
  scene.nothingLeft();
});

Deno.test({ name: "a command gets its variables, none that it must not see, and its directory", ignore }, async () => {
  Deno.env.set("EXEC_SERVER_TEST_INHERITED", "here");
  Deno.env.set("OPENAI_IDENTITY_TOKEN_FILE", "secret");
  try {
    const scene = new Scene();
    const { gone, heard } = await scene.open(
      `echo "$EXEC_SERVER_TEST_INHERITED,$A,\${B-none},\${b-none},\${CODEX_EXEC_SERVER_NOISE_AUTH_TOKEN-none}"
       echo "\${OPENAI_IDENTITY_TOKEN_FILE-none},$(pwd)"`,
      {
        // Without types it may be a number.
        env: { A: 1 as unknown as string, B: "2", b: "3", CODEX_EXEC_SERVER_NOISE_AUTH_TOKEN: "t" },
        removeEnv: ["b"],
        cwd: "/usr",
      },
    );
    await gone;
    assert.deepEqual(await heard.received(2), ["here,1,none,none,none", "none,/usr"]);
  } finally {
    Deno.env.delete("EXEC_SERVER_TEST_INHERITED");
    Deno.env.delete("OPENAI_IDENTITY_TOKEN_FILE");
  }
});

Deno.test({ name: "a command leads a group of its own", ignore }, async () => {
  const { gone, heard } = await new Scene().open(`echo $$; cut -d ' ' -f 5 /proc/$$/stat`);
  await gone;
  const [pid, group] = await heard.received(2);
  assert.equal(group, pid);
  assert.notEqual(Number(pid), Deno.pid);
});

Deno.test({ name: "when the connection ends, stdin ends and the whole group gets SIGTERM", ignore }, async () => {
  const scene = new Scene();
  const dir = await Deno.makeTempDir();
  try {
    const { connection, gone, heard } = await scene.open(
      `(trap 'echo child >> log; exit' TERM; echo ready; while :; do sleep 0.01; done) &
       trap 'cat >> log; wait; echo leader >> log; exit' TERM; echo ready; wait`,
      { cwd: dir },
    );
    await heard.received(2);
    connection.close();
    await gone;
    // The leader read to the end of its stdin, else it would not have come so far.
    assert.equal(await Deno.readTextFile(`${dir}/log`), "child\nleader\n");
    scene.nothingLeft();
  } finally {
    await Deno.remove(dir, { recursive: true });
  }
});

Deno.test({ name: "a group that ignores SIGTERM is killed", ignore }, async () => {
  const scene = new Scene();
  const { connection, gone, heard } = await scene.open(`trap '' TERM; sleep 1000 & echo ready; wait; wait`);
  await heard.received(1);
  connection.close();
  await gone;
  scene.nothingLeft();
});

Deno.test(
  { name: "when a command ends by itself the connection ends, and the rest of its group", ignore },
  async () => {
    const scene = new Scene();
    const { gone, heard } = await scene.open(`trap '' TERM; sleep 1000 & echo last; printf 'half a line'`);
    assert.equal(await heard.end(), "end of input");
    assert.deepEqual(heard.messages, ["last", "half a line"]);
    assert.equal(heard.ends[0]?.failure, undefined);
    await gone;
    scene.nothingLeft();
  },
);

Deno.test({ name: "a stranger who holds the command's pipes does not hold up its end", ignore }, async () => {
  const scene = new Scene();
  const { gone, heard } = await scene.open(`setsid sleep 1000 &
    while [ "$(cut -d ' ' -f 6 /proc/$!/stat)" = "$(cut -d ' ' -f 6 /proc/$$/stat)" ]; do :; done`);
  await heard.end();
  await gone;
  const strangers = marked(scene.mark);
  for (const pid of strangers) Deno.kill(pid, "SIGKILL");
  assert.equal(strangers.length, 1);
});

Deno.test({ name: "a line that cannot be read ends the connection and the command", ignore }, async () => {
  const scene = new Scene();
  const { gone, heard } = await scene.open(`printf 'good\\n\\377\\n'; sleep 1000`);
  await heard.end();
  assert.deepEqual(heard.messages, ["good"]);
  const failure = "failed to read JSON-RPC message from exec-server stdio command: a line that is not UTF-8";
  assert.equal(heard.ends[0]?.failure, failure);
  await gone;
  scene.nothingLeft();
});

Deno.test({ name: "what a command said before it stopped to read is heard", ignore }, async () => {
  const scene = new Scene();
  const { connection, gone, heard } = await scene.open(`exec 0<&-; echo ready; sleep 0.1; echo answer`);
  await heard.received(1);
  connection.send("unread");
  await heard.end();
  assert.deepEqual(heard.messages, ["ready", "answer"]);
  await gone;
});

Deno.test({ name: "a command that reads no more and goes on is ended", ignore }, async () => {
  const scene = new Scene();
  const { connection, gone, heard } = await scene.open(`exec 0<&-; echo ready; sleep 1000`);
  await heard.received(1);
  connection.send("unread");
  await heard.end();
  assert.equal(heard.ends[0]?.failure, "failed to write JSON-RPC message to exec-server stdio command: write EPIPE");
  await gone;
  scene.nothingLeft();
});

Deno.test({ name: "a command that does not read makes the connection congested until it does", ignore }, async () => {
  const scene = new Scene();
  const { connection, gone, heard } = await scene.open(`echo ready; read go < "$FIFO"; wc -c`, {
    env: { FIFO: await fifo() },
  });
  await heard.received(1);
  const line = "x".repeat(256 * 1024);
  for (let i = 0; i < 4; i++) connection.send(line);
  assert.equal(connection.congested, true);
  await Deno.writeTextFile(fifoPath, "go\n");
  await connection.drained();
  assert.equal(connection.congested, false);
  connection.close();
  await gone;
  await Deno.remove(fifoPath);
});

const fifoPath = `${Deno.env.get("TMPDIR") ?? "/tmp"}/exec-server-fifo-${crypto.randomUUID()}`;

async function fifo(): Promise<string> {
  const { success } = await new Deno.Command("mkfifo", { args: [fifoPath] }).output();
  assert.ok(success);
  return fifoPath;
}

Deno.test({ name: "stderr is logged at debug, line by line, each within a bound", ignore }, async () => {
  const logged: string[] = [];
  const log = createLog("debug", (line) => logged.push(line));
  const command = new Scene().command(`echo one >&2; echo >&2; printf 'tw' >&2; printf 'o\\nx' >&2
    head -c 100000 /dev/zero | tr '\\0' y >&2; printf '\\nend' >&2`);
  const { connection, gone } = await commandCarrier(command, { log }).open({ signal: never });
  new Recorder(connection);
  await gone;
  const lines = logged.map((line) => line.slice(line.indexOf(" ") + 1).trimEnd());
  const prefix = "DEBUG exec-server stdio stderr line=";
  assert.deepEqual(lines, ["one", "two", `x${"y".repeat(4095)}`, "end"].map((line) => prefix + line));
});

Deno.test({ name: "a command that cannot be started says why", ignore }, async () => {
  const cases: [Partial<CommandOptions>, string][] = [
    [{ program: "" }, "No such file or directory (os error 2)"],
    [{ program: "/no/such" }, "No such file or directory (os error 2)"],
    [{ program: "exec-server-no-such" }, "No such file or directory (os error 2)"],
    [{ cwd: "/no/such" }, "No such file or directory (os error 2)"],
    [{ program: "/tmp" }, "Permission denied (os error 13)"],
    [{ args: ["a\0b"] }, "nul byte found in provided data"],
    [{ env: { A: "a\0b" } }, "nul byte found in provided data"],
    [{ env: { "A\0": "" } }, "nul byte found in provided data"],
  ];
  for (const [more, reason] of cases) {
    const command = { ...new Scene().command(""), ...more };
    await assert.rejects(connectCommand(command), {
      kind: "spawn",
      retryable: false,
      message: `failed to spawn exec-server: ${reason}`,
    });
  }
});

Deno.test({ name: "an attempt that is given up starts nothing, or leaves nothing", ignore }, async () => {
  const scene = new Scene();
  const giveUp = new AbortController();
  const attempt = commandCarrier(scene.command("sleep 1000")).open({ signal: giveUp.signal });
  giveUp.abort(new Error("no more"));
  await assert.rejects(attempt, { message: "no more" });
  scene.nothingLeft();
  await assert.rejects(commandCarrier(scene.command("")).open({ signal: giveUp.signal }), { message: "no more" });
});

Deno.test({ name: "a client of a command ends it when it ends, and a bad line ends both", ignore }, async () => {
  const scene = new Scene();
  const main = new URL("../../main.ts", import.meta.url).pathname;
  {
    const server = scene.command("", { program: Deno.execPath(), args: ["run", "-A", main, "--listen", "stdio"] });
    await using client = await connectCommand(server);
    assert.deepEqual(await client.status(), { state: "ready" });
    assert.notDeepEqual(marked(scene.mark), []);
  }
  scene.nothingLeft();
  await assert.rejects(connectCommand(scene.command("read a; echo '[1]'; sleep 1000")), {
    message: /^exec-server transport disconnected/,
  });
  scene.nothingLeft();
});
