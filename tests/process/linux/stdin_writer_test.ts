import assert from "node:assert/strict";
import { STDIN_QUEUE_CHUNKS } from "../../../lib/process/child.ts";
import { Bench, bytes, eventually, never, processes } from "../../support/linux.ts";

/** Fills a pipe (64 KiB) or a terminal (about 14 KB): what follows waits in the queue. */
const MORE_THAN_THE_KERNEL_TAKES = "x".repeat(100_000);

const stopped = (pid: number) => eventually("it has stopped", () => processes().get(pid)?.[0] === "T");

for (const tty of [false, true]) {
  const where = tty ? "terminal" : "pipe";

  Deno.test(`what is written comes back, ${where}`, async () => {
    await using bench = new Bench();
    const { child, record } = bench.launch(["/bin/cat"], { tty, pipeStdin: true });
    assert.equal(child.write(bytes("one\n"), never), undefined);
    await record.says("one");
    assert.equal(child.write(bytes(""), never), undefined);
    assert.equal(child.write(bytes("two\n"), never), undefined);
    await record.says("two");
    child.terminate();
    await record.end();
  });

  Deno.test(`a large chunk reaches a slow reader whole, ${where}`, async () => {
    await using bench = new Bench();
    const count = tty ? 1_000_000 : 10_000_000;
    const script = `stty raw -echo 2>/dev/null; echo ready; sleep 0.05; head -c ${count} | cksum; exit 0`;
    const { child, record } = bench.launch(["/bin/sh", "-c", script], { tty, pipeStdin: true });
    await record.says("ready");
    const chunk = new Uint8Array(count).map((_, index) => (index * 31 + (index >> 8)) & 0xff);
    assert.equal(child.write(chunk, never), undefined);
    await record.end();
    const sum = bench.launch(["/bin/sh", "-c", `head -c ${count} | cksum`], { pipeStdin: true });
    sum.child.write(chunk, never);
    await sum.record.end();
    assert.equal(record.text(tty ? "pty" : "stdout").split(/\r?\n/)[1], sum.record.text("stdout").trim());
  });

  Deno.test(`the queue has ${STDIN_QUEUE_CHUNKS} places, then writes wait in order, ${where}`, async () => {
    await using bench = new Bench();
    const script = "stty raw -echo 2>/dev/null; echo ready; kill -STOP $$; tail -c 9";
    const { child, record } = bench.launch(["/bin/sh", "-c", script], { tty, pipeStdin: true });
    await record.says("ready");
    await stopped(child.pid);
    assert.equal(child.write(bytes(MORE_THAN_THE_KERNEL_TAKES), never), undefined);
    for (let place = 0; place < STDIN_QUEUE_CHUNKS; place++) {
      assert.equal(child.write(bytes("."), never), undefined);
    }
    const done: string[] = [];
    const second = new AbortController();
    const waits = ["a", "b", "c"].map((text) => {
      const waiting = child.write(bytes(text), text === "b" ? second.signal : never);
      assert.ok(waiting instanceof Promise);
      return waiting.then(() => done.push(text));
    });
    second.abort(new Error("no longer"));
    await assert.rejects(waits[1]!, new Error("no longer"));
    assert.deepEqual(done, []);
    await assert.rejects(child.write(bytes("d"), second.signal)!, new Error("no longer"));
    Deno.kill(child.pid, "SIGCONT");
    await Promise.all([waits[0], waits[2]]);
    assert.deepEqual(done, ["a", "c"]);
    child.terminate();
    await record.end();
  });

  Deno.test(`bytes for a program that reads no more vanish, and whoever waits is let go, ${where}`, async () => {
    await using bench = new Bench();
    const script = "stty raw -echo 2>/dev/null; echo ready; kill -STOP $$";
    const { child, record } = bench.launch(["/bin/sh", "-c", script], { tty, pipeStdin: true });
    await record.says("ready");
    await stopped(child.pid);
    child.write(bytes(MORE_THAN_THE_KERNEL_TAKES), never);
    for (let place = 0; place < STDIN_QUEUE_CHUNKS; place++) child.write(bytes("."), never);
    const waiting = child.write(bytes("last"), never);
    assert.ok(waiting instanceof Promise);
    child.terminate();
    await waiting;
    await record.end();
    assert.equal(child.write(bytes("x"), never), undefined);
    assert.equal(child.write(bytes(MORE_THAN_THE_KERNEL_TAKES), never), undefined);
  });
}

Deno.test("a program that closes its stdin lives on, and writes to it vanish", async () => {
  await using bench = new Bench();
  const script = "exec <&-; echo ready; read -r go < /dev/null; sleep 0.1; echo alive";
  const { child, record } = bench.launch(["/bin/sh", "-c", script], { pipeStdin: true });
  await record.says("ready");
  assert.equal(child.write(bytes("x"), never), undefined);
  assert.equal(child.write(bytes("y"), never), undefined);
  assert.deepEqual(await record.end(), ["stdout:ready\nalive\n", "exited 0", "closed"]);
});

Deno.test("closeStdin ends the input behind everything that was written, though the queue is full", async () => {
  await using bench = new Bench();
  const { child, record } = bench.launch(["/bin/sh", "-c", "echo ready; kill -STOP $$; wc -c; tail -c 3"], {
    pipeStdin: true,
  });
  await record.says("ready");
  await stopped(child.pid);
  child.write(bytes(MORE_THAN_THE_KERNEL_TAKES), never);
  for (let place = 0; place < STDIN_QUEUE_CHUNKS; place++) child.write(bytes("."), never);
  const gone = new AbortController();
  const waits = ["a", "b", "c"].map((text) => child.write(bytes(text), text === "b" ? gone.signal : never));
  child.closeStdin();
  child.closeStdin();
  gone.abort(new Error("no longer"));
  await assert.rejects(waits[1]!, new Error("no longer"));
  assert.equal(child.write(bytes("after the end"), never), undefined);
  Deno.kill(child.pid, "SIGCONT");
  await Promise.all([waits[0], waits[2]]);
  const count = MORE_THAN_THE_KERNEL_TAKES.length + STDIN_QUEUE_CHUNKS + 2;
  assert.deepEqual(await record.end(), [`stdout:ready\n${count}\n`, "exited 0", "closed"]);
});

Deno.test("closeStdin on an empty queue ends the input at once, and means nothing where there is none", async () => {
  await using bench = new Bench();
  const { child, record } = bench.launch(["/bin/cat"], { pipeStdin: true });
  child.write(bytes("x"), never);
  child.closeStdin();
  assert.deepEqual(await record.end(), ["stdout:x", "exited 0", "closed"]);
  child.closeStdin();
  const none = bench.launch(["/bin/cat"]);
  none.child.closeStdin();
  assert.deepEqual(await none.record.end(), ["exited 0", "closed"]);
  const terminal = bench.launch(["/bin/cat"], { tty: true });
  terminal.child.closeStdin();
  terminal.child.write(bytes("still\n"), never);
  await terminal.record.says("still\r\nstill");
  terminal.child.write(new Uint8Array([4]), never);
  assert.deepEqual((await terminal.record.end()).slice(-2), ["exited 0", "closed"]);
});

Deno.test("an interrupt character on a terminal reaches the foreground job", async () => {
  await using bench = new Bench();
  const { child, record } = bench.launch(["/bin/sh", "-c", "echo ready; exec sleep 60"], { tty: true });
  await record.says("ready");
  child.write(new Uint8Array([3]), never);
  assert.deepEqual((await record.end()).slice(-2), ["exited 1", "closed"]);
});

Deno.test("without a pipe for stdin a write has nobody to go to", async () => {
  await using bench = new Bench();
  const { child, record } = bench.launch(["/bin/cat"]);
  assert.equal(child.write(bytes("x"), never), undefined);
  assert.deepEqual(await record.end(), ["exited 0", "closed"]);
});
