import assert from "node:assert/strict";
import { copyOutput } from "../../../lib/cli/program/output.ts";
import { ManualClock } from "../../support/manual_clock.ts";
import { FakeCli } from "../fake_cli.ts";
import { FakeProcess, settled } from "./fake_process.ts";

function scene(options: Parameters<typeof copyOutput>[2] = {}) {
  const clock = new ManualClock();
  const cli = new FakeCli(clock);
  const program = new FakeProcess();
  const copied = copyOutput(program.asProcess, cli, options);
  return { clock, cli, program, copied };
}

Deno.test("output goes to the descriptor that it was written to, a terminal's to stdout", async () => {
  const { clock, cli, program, copied } = scene();
  program.writes("out");
  program.writes("err", "stderr");
  program.writes("screen", "pty");
  program.exits();
  program.writes(" late");
  program.closes();
  assert.equal(await copied, "closed");
  assert.deepEqual([cli.stdout.text, cli.stderr.text], ["outscreen late", "err"]);
  assert.equal(clock.pendingTimers, 0);
});

Deno.test("a slow reader slows the copying, also after the end, and loses nothing", async () => {
  const { clock, cli, program, copied } = scene();
  const reader = Promise.withResolvers<void>();
  program.exits();
  await settled();
  cli.stdout.blocked = reader.promise;
  program.writes("a");
  await settled();
  clock.advance(60_000);
  program.writes("b");
  program.closes();
  await settled();
  reader.resolve();
  assert.equal(await copied, "closed");
  assert.equal(cli.stdout.text, "ab");
});

Deno.test("before the end of the program silence means nothing", async () => {
  const { clock, program, copied } = scene();
  await settled();
  clock.advance(3_600_000);
  program.writes("still here");
  program.exits();
  program.closes();
  assert.equal(await copied, "closed");
});

Deno.test("after the end of the program silence means nothing as long as the link is lost, and begins anew with it", async () => {
  let isLinked = false;
  const { clock, cli, program, copied } = scene({ isLinked: () => isLinked });
  program.exits();
  await settled();
  clock.advance(60_000);
  isLinked = true;
  clock.advance(250);
  await settled();
  program.writes("kept for us");
  await settled();
  assert.equal(cli.stdout.text, "kept for us");
  clock.advance(249);
  await settled();
  assert.equal(program.left, false);
  clock.advance(1);
  assert.equal(await copied, "held");
  assert.equal(clock.pendingTimers, 0);
});

Deno.test("after the end of the program 250 ms of silence end the copying, and nobody listens any more", async () => {
  const { clock, cli, program, copied } = scene();
  program.writes("own");
  program.exits();
  await settled();
  clock.advance(249);
  program.writes(" tail");
  await settled();
  clock.advance(249);
  await settled();
  assert.equal(program.left, false);
  clock.advance(1);
  assert.equal(await copied, "held");
  assert.equal(cli.stdout.text, "own tail");
  assert.ok(program.left);
  assert.equal(clock.pendingTimers, 0);
});

Deno.test("a child that goes on writing a little is heard for 2 s", async () => {
  const { clock, cli, program, copied } = scene();
  program.exits();
  for (let i = 0; i < 100; i++) {
    await settled();
    clock.advance(100);
    program.writes(".");
  }
  assert.equal(await copied, "held");
  // The twentieth comes when the time is up.
  assert.equal(cli.stdout.text.length, 19);
});

Deno.test("a child that goes on writing much is heard for 1 MiB", async () => {
  const { cli, program, copied } = scene();
  program.exits();
  for (let i = 0; i < 100; i++) program.writes("x".repeat(64 * 1024));
  assert.equal(await copied, "held");
  assert.equal(cli.stdout.text.length, 1024 * 1024);
});

Deno.test("a failure of the stream is thrown after what came before it, also after the end of the program", async () => {
  const { cli, program, copied } = scene();
  program.writes("first");
  program.exits();
  await settled();
  program.fail(new Error("lost"));
  await assert.rejects(copied, { message: "lost" });
  assert.equal(cli.stdout.text, "first");
});

Deno.test("a reader that has gone is an error of its own", async () => {
  const { cli, program, copied } = scene();
  cli.stdout.isGone = true;
  program.writes("x");
  await assert.rejects(copied, { name: "ReaderGoneError" });
});

Deno.test("a beginning that is not there any more is said to whoever joins late", async () => {
  for (const joinsLate of [true, false]) {
    const cli = new FakeCli();
    const program = new FakeProcess();
    program.skips();
    program.writes("rest");
    program.exits();
    program.closes();
    assert.equal(await copyOutput(program.asProcess, cli, { joinsLate }), "closed");
    assert.equal(cli.stdout.text, "rest");
    assert.equal(cli.stderr.text, joinsLate ? "exec-server: what it wrote at first is not kept any more\n" : "");
  }
});

Deno.test("a write that fails is noticed at once, though the program says nothing more", async () => {
  const { cli, program, copied } = scene();
  const reader = Promise.withResolvers<void>();
  cli.stdout.blocked = reader.promise;
  program.writes("x");
  await settled();
  cli.stdout.isGone = true;
  reader.resolve();
  await assert.rejects(copied, { name: "ReaderGoneError" });
});

Deno.test("what comes while a piece is being written goes together, and descriptors keep their order", async () => {
  const { cli, program, copied } = scene();
  const writes: string[] = [];
  for (const [name, output] of [["out", cli.stdout], ["err", cli.stderr]] as const) {
    output.write = async (data) => {
      writes.push(`${name} ${new TextDecoder().decode(data as Uint8Array)}`);
      await settled();
    };
  }
  for (const text of ["a", "b", "c"]) program.writes(text);
  program.writes("d", "stderr");
  program.writes("e");
  program.exits();
  program.closes();
  assert.equal(await copied, "closed");
  assert.deepEqual(writes, ["out a", "out bc", "err d", "out e"]);
});

Deno.test("no more than 256 KiB wait for a slow reader", async () => {
  const { cli, program, copied } = scene();
  const reader = Promise.withResolvers<void>();
  cli.stdout.blocked = reader.promise;
  for (let i = 0; i < 20; i++) program.writes("x".repeat(64 * 1024));
  await settled();
  // One piece is being written, four wait.
  assert.equal(program.untold, 15);
  reader.resolve();
  program.exits();
  program.closes();
  assert.equal(await copied, "closed");
  assert.equal(cli.stdout.text.length, 20 * 64 * 1024);
});
