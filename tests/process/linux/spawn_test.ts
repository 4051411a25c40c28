import assert from "node:assert/strict";
import { createLog } from "../../../lib/log.ts";
import { linuxBackend } from "../../../lib/process/linux/spawn.ts";
import { SIGNAL_NAMES } from "../../../lib/process/signal_name.ts";
import { launchSpec } from "../../support/child_record.ts";
import {
  Bench,
  bytes,
  eventually,
  groupMembers,
  leftOpen,
  never,
  openDescriptors,
  processes,
} from "../../support/linux.ts";

for (const tty of [false, true]) {
  const where = tty ? "on a terminal" : "on pipes";

  Deno.test(`a program leads a session and a group of its own, ${where}`, async () => {
    await using bench = new Bench();
    const { child, record } = bench.launch(["/bin/sh", "-c", "exec sleep 60"], { tty });
    const [, , group, session] = processes().get(child.pid)!;
    assert.deepEqual([group, session], [String(child.pid), String(child.pid)]);
    child.terminate();
    assert.deepEqual(await record.end(), [`exited ${tty ? 1 : 137}`, "closed"]);
  });

  Deno.test(`a program has no other descriptors, and no signal ignored or blocked, ${where}`, async () => {
    await using bench = new Bench();
    const { record } = bench.launch(["/bin/cat", "/proc/self/status"], { tty });
    await record.end();
    const said = record.text(tty ? "pty" : "stdout");
    assert.match(said, /SigBlk:\t0+\r?\n/);
    assert.match(said, /SigIgn:\t0+\r?\n/);
    const listed = bench.launch(["/bin/ls", "/proc/self/fd"], { tty }).record;
    await listed.end(); // 3 is ls's own, for the directory
    assert.deepEqual(listed.text(tty ? "pty" : "stdout").split(/\s+/), ["0", "1", "2", "3", ""]);
  });

  Deno.test(`the exit code is the program's own, or says that a signal killed it, ${where}`, async () => {
    await using bench = new Bench();
    assert.deepEqual(await bench.run("exit 0", { tty }), ["exited 0", "closed"]);
    assert.deepEqual(await bench.run("exit 255", { tty }), ["exited 255", "closed"]);
    assert.deepEqual(await bench.run("kill -9 $$", { tty }), [`exited ${tty ? 1 : 137}`, "closed"]);
    assert.deepEqual(await bench.run("kill -TERM $$", { tty }), [`exited ${tty ? 1 : 143}`, "closed"]);
  });

  Deno.test(`the signal that ended a program has a name, ${where}`, async () => {
    await using bench = new Bench();
    for (
      const [script, signal] of [["exit 9", null], ["kill -9 $$", "SIGKILL"], ["kill -USR2 $$", "SIGUSR2"]] as const
    ) {
      const { record } = bench.launch(["/bin/sh", "-c", script], { tty });
      await record.end();
      assert.equal(record.signal, signal);
    }
  });

  Deno.test(`every signal that can be sent reaches the program, ${where}`, async () => {
    await using bench = new Bench();
    const heard = SIGNAL_NAMES.filter((name) => name !== "SIGKILL" && name !== "SIGSTOP");
    const traps = heard.map((name) => `trap 'echo "[${name}]"' ${name.slice(3)}`).join("; ");
    const { child, record } = bench.launch(["/bin/sh", "-c", `${traps}; echo ready; while :; do sleep 0.01; done`], {
      tty,
    });
    await record.says("ready");
    for (const name of heard) {
      assert.equal(child.signal(name), true);
      await record.says(`[${name}]`);
    }
    child.terminate();
    await record.end();
  });

  Deno.test(`a program stops, goes on and dies by signals, and then gets none, ${where}`, async () => {
    await using bench = new Bench();
    // Not a shell that starts others: stopped in the middle of a vfork it would only wait for its child.
    const { child, record } = bench.launch(["/bin/sleep", "60"], { tty });
    child.signal("SIGSTOP");
    await eventually("it has stopped", () => processes().get(child.pid)?.[0] === "T");
    child.signal("SIGCONT");
    await eventually("it goes on", () => processes().get(child.pid)?.[0] === "S");
    assert.equal(child.signal("SIGKILL"), true);
    await record.end();
    assert.equal(record.signal, "SIGKILL");
    assert.equal(child.signal("SIGTERM"), false);
  });

  Deno.test(`no signal goes to a group whose leader has exited, ${where}`, async () => {
    await using bench = new Bench();
    const script = "trap '' HUP; sleep 60 & exit 0";
    const { child, record } = bench.launch(["/bin/sh", "-c", script], { tty });
    await record.until(() => record.events.includes("exited 0"));
    assert.equal(child.signal("SIGTERM"), false);
    assert.equal(groupMembers(child.pid).length, 1);
  });

  Deno.test(`an interrupt goes to the whole group, ${where}`, async () => {
    await using bench = new Bench();
    const script = "trap 'echo heard; exit 7' INT; sh -c 'echo ready; exec sleep 60'; exit 1";
    const { child, record } = bench.launch(["/bin/sh", "-c", script], { tty });
    await record.says("ready");
    child.signal("SIGINT");
    const events = await record.end();
    assert.deepEqual(events.slice(1), ["exited 7", "closed"]);
    assert.match(events[0]!, /heard/);
  });

  Deno.test(`a paused program's exit is told at once, after all that it said, ${where}`, async () => {
    await using bench = new Bench();
    const stream = tty ? "pty" : "stdout";
    const script = "stty -opost 2>/dev/null; printf first; read -r line; printf '%03000d' 7; exit 5";
    const { child, record } = bench.launch(["/bin/sh", "-c", script], { tty, pipeStdin: true });
    record.accept = false;
    await record.says("first");
    assert.equal(child.write(bytes("\n"), never), undefined);
    await record.end();
    assert.equal(record.text(stream).replaceAll(/\s/g, ""), "first" + "7".padStart(3000, "0"));
    assert.deepEqual(record.events.slice(-2), ["exited 5", "closed"]);
  });

  Deno.test(`a paused program waits, and goes on when it is resumed, ${where}`, async () => {
    await using bench = new Bench();
    const script = "stty -opost 2>/dev/null; head -c 1000000 /dev/zero; echo done";
    const { child, record } = bench.launch(["/bin/sh", "-c", script], { tty });
    record.accept = false;
    await record.until(() => record.byteCount > 0);
    const heard = record.byteCount;
    await new Promise((resolve) => setTimeout(resolve, 30)); // nothing may happen, so there is nothing to wait for
    assert.equal(record.byteCount, heard);
    record.accept = true;
    child.resume();
    await record.end();
    assert.equal(record.byteCount, 1_000_000 + "done\n".length);
  });

  Deno.test(`nothing is heard of a child that was disposed of, and its group is gone, ${where}`, async () => {
    await using bench = new Bench();
    const script = "echo ready; sleep 60 & sleep 61";
    const { child, record } = bench.launch(["/bin/sh", "-c", script], { tty });
    await record.says("ready");
    const { pid } = child;
    const events = record.events.length;
    child[Symbol.dispose]();
    child[Symbol.dispose]();
    assert.equal(child.write(bytes("x"), never), undefined);
    child.signal("SIGINT");
    child.terminate();
    child.resume();
    await eventually("the group is empty", () => groupMembers(pid).length === 0 && !processes().has(pid));
    assert.equal(record.events.length, events);
  });
}

Deno.test("closed waits for a background child that keeps the pipe, exited does not", async () => {
  await using bench = new Bench();
  const { child, record } = bench.launch(["/bin/sh", "-c", "(sleep 0.2; echo late) & echo early; exit 3"]);
  await record.until(() => record.events.includes("exited 3"));
  child.terminate(); // its program is gone: what that left behind is not touched
  assert.deepEqual(await record.end(), ["stdout:early\n", "exited 3", "stdout:late\n", "closed"]);
});

Deno.test("after terminate closed comes although a process that left the group keeps the pipe", async () => {
  await using bench = new Bench();
  const { child, record } = bench.launch(["/bin/sh", "-c", "setsid sleep 60 & echo $!; exec sleep 61"]);
  await record.says("\n");
  await eventually("sleep has left the group", () => groupMembers(child.pid).length === 1);
  child.terminate();
  assert.deepEqual((await record.end()).slice(1), ["exited 137", "closed"]);
  Deno.kill(Number(record.text("stdout")), "SIGKILL"); // the shell's $!: setsid has made way for sleep
});

Deno.test("background children of a program that has exited die with killGroup, and with the back end", async () => {
  for (const by of ["killGroup", "back end"] as const) {
    const before = openDescriptors();
    const bench = new Bench();
    const { child, record } = bench.launch(["/bin/sh", "-c", "sleep 60 >/dev/null 2>&1 & exit 0"]);
    await record.end();
    assert.equal(groupMembers(child.pid).length, 1);
    if (by === "killGroup") {
      child.killGroup();
      await eventually("the group is empty", () => groupMembers(child.pid).length === 0);
    }
    await bench[Symbol.asyncDispose]();
    await eventually("the group is empty", () => groupMembers(child.pid).length === 0);
    assert.deepEqual(leftOpen(before), []);
  }
});

Deno.test("a back end that ends does not wait for whoever escaped with a pipe, and starts nothing any more", async () => {
  const before = openDescriptors();
  const bench = new Bench();
  const { child, record } = bench.launch(["/bin/sh", "-c", "setsid sleep 60 & echo $!; exec sleep 61"]);
  await record.says("\n");
  await eventually("sleep has left the group", () => groupMembers(child.pid).length === 1);
  await bench[Symbol.asyncDispose]();
  assert.deepEqual(leftOpen(before), []);
  assert.equal(record.events.length, 1);
  assert.throws(() => bench.launch(["/bin/true"]), /the server is ending/);
  Deno.kill(Number(record.text("stdout")), "SIGKILL");
});

Deno.test("a listener that throws is logged, and its program still comes to an end", async () => {
  const lines: string[] = [];
  const { promise, resolve } = Promise.withResolvers<void>();
  await using backend = linuxBackend({ log: createLog("error", (line) => lines.push(line)) });
  const calls: string[] = [];
  backend.launch(launchSpec(["/bin/sh", "-c", "echo one; sleep 0.05; echo two; exit 3"]), {
    output() {
      throw new Error("broken listener");
    },
    exited: (code) => calls.push(`exited ${code}`),
    closed: () => resolve(),
  });
  await promise;
  assert.deepEqual(calls, ["exited 3"]);
  assert.match(lines.join(""), /broken listener/);
});

Deno.test("a program on pipes has the null device as stdin unless it asks for a pipe", async () => {
  await using bench = new Bench();
  const { record } = bench.launch(["/bin/readlink", "/proc/self/fd/0"]);
  assert.deepEqual(await record.end(), ["stdout:/dev/null\n", "exited 0", "closed"]);
});

Deno.test("stdout and stderr are told apart", async () => {
  await using bench = new Bench();
  const { record } = bench.launch(["/bin/sh", "-c", "echo out; echo err >&2"]);
  await record.end();
  assert.deepEqual([record.text("stdout"), record.text("stderr")], ["out\n", "err\n"]);
});

Deno.test("a terminal has 24 rows and 80 columns and is the controlling one", async () => {
  await using bench = new Bench();
  const { record } = bench.launch(["/bin/sh", "-c", "stty size; echo x > /dev/tty; tty"], { tty: true });
  await record.end();
  assert.match(record.text("pty"), /^24 80\r\nx\r\n\/dev\/pts\/\d+\r\n$/);
});

Deno.test("a terminal has the size that was asked for, from the beginning and when it changes", async () => {
  await using bench = new Bench();
  const script = "stty size; trap 'stty size' WINCH; echo ready; while :; do sleep 0.01; done";
  const { child, record } = bench.launch(["/bin/sh", "-c", script], {
    tty: true,
    terminalSize: { rows: 1, columns: 65_535 },
  });
  await record.says("1 65535\r\nready");
  child.resize({ rows: 50, columns: 132 });
  await record.says("50 132");
  child.terminate();
  await record.end();
  child.resize({ rows: 5, columns: 5 });
  const pipes = bench.launch(["/bin/cat"]);
  pipes.child.resize({ rows: 5, columns: 5 });
  assert.deepEqual(await pipes.record.end(), ["exited 0", "closed"]);
});

Deno.test("a terminal outlives a program that lets go of it and takes it again", async () => {
  await using bench = new Bench();
  const script = "exec 3<&- <&- >&- 2>&-; sleep 0.1; exec >/dev/tty; echo back; exit 4";
  const { record } = bench.launch(["/bin/sh", "-c", script], { tty: true });
  assert.deepEqual(await record.end(), ["pty:back\r\n", "exited 4", "closed"]);
});

Deno.test("a terminal's environment gets a SHELL if it has none", async () => {
  await using bench = new Bench();
  const { record } = bench.launch(["/usr/bin/env"], { tty: true, env: new Map([["A", "1"]]) });
  await record.end();
  assert.match(record.text("pty"), /^A=1\r\nSHELL=\/\S+\r\n$/);
});
