import assert from "node:assert/strict";
import { ClientError, disconnected } from "../../../lib/client/client_error.ts";
import { attend, type ForegroundOptions } from "../../../lib/cli/program/foreground.ts";
import { ManualClock } from "../../support/manual_clock.ts";
import { FakeCli } from "../fake_cli.ts";
import { FakeProcess, settled } from "./fake_process.ts";

function scene(more: Partial<ForegroundOptions> & { reads?: boolean } = {}) {
  const clock = new ManualClock();
  const cli = new FakeCli(clock);
  const process = new FakeProcess();
  const client: { state: "connected" | "recovering" | "failed" } = { state: "connected" };
  const { reads = false, ...options } = more;
  cli.size = { rows: 24, columns: 80 };
  cli.stdin.isTerminal = options.raw === true;
  const start = () =>
    attend(process.asProcess, {
      cli,
      client,
      tty: false,
      raw: false,
      extended: true,
      source: reads ? () => cli.stdin.read() : undefined,
      ...options,
    });
  return { clock, cli, process, client, start };
}

Deno.test("attend() ends with the program's code, and listens to nothing any more", async () => {
  const { clock, cli, process, start } = scene();
  const code = start();
  process.writes("hello");
  process.exits({ code: 3 });
  process.closes();
  assert.equal(await code, 3);
  assert.equal(cli.stdout.text, "hello");
  for (const signal of ["SIGINT", "SIGTERM", "SIGHUP", "SIGQUIT", "SIGWINCH"] as const) {
    assert.equal(cli.signal(signal), false, signal);
  }
  assert.equal(clock.pendingTimers, 0);
});

Deno.test("attend() passes input on to its end, on a terminal twice after an unfinished line", async () => {
  const cases: [string, boolean, string[]][] = [
    ["x", false, ["write x", "closeStdin"]],
    ["x\n", true, ["write x\n", "closeStdin"]],
    ["x", true, ["write x", "closeStdin", "closeStdin"]],
  ];
  for (const [input, tty, done] of cases) {
    const { cli, process, start } = scene({ reads: true, tty });
    const code = start();
    cli.stdin.give(input);
    cli.stdin.give(null);
    await settled();
    process.exits();
    process.closes();
    assert.equal(await code, 0);
    assert.deepEqual(process.done, done);
  }
});

Deno.test("attend() says what a stock server cannot do at the end of input", async () => {
  const { cli, process, start } = scene({ reads: true, extended: false });
  const code = start();
  cli.stdin.give(null);
  await settled();
  assert.match(cli.stderr.text, /^exec-server: the input has ended, which this server cannot tell the program: /);
  process.exits();
  process.closes();
  await code;
  assert.deepEqual(process.done, []);
});

Deno.test("a program that takes no more input is its own affair", async () => {
  const { cli, process, start } = scene({ reads: true });
  process.refusal = new ClientError("server", "stdin is closed");
  const code = start();
  cli.stdin.give("x");
  await settled();
  process.exits({ code: 5 });
  process.closes();
  assert.equal(await code, 5);
  assert.equal(cli.stderr.text, "");
});

Deno.test("input that cannot be read is a failure of ours", async () => {
  const failure = new Error("cannot read");
  const { start } = scene({ source: () => Promise.reject(failure) });
  await assert.rejects(start(), failure);
});

for (
  const [how, end, code] of [
    ["the program ends", (process: FakeProcess) => (process.exits(), process.closes()), 0],
    ["the link is lost for good", (process: FakeProcess) => process.fail(disconnected("gone")), 255],
    ["something unexpected happens", (process: FakeProcess) => process.fail(new RangeError("no")), undefined],
  ] as const
) {
  Deno.test(`raw mode is left when ${how}`, async () => {
    const { cli, process, start } = scene({ raw: true, tty: true, reads: true });
    const ended = start();
    await settled();
    assert.ok(cli.isRaw);
    end(process);
    if (code === undefined) await assert.rejects(ended, RangeError);
    else assert.equal(await ended, code);
    assert.equal(cli.isRaw, false);
  });
}

Deno.test("Ctrl-C goes up a ladder, and each step is told on a terminal", async () => {
  const { cli, process, start } = scene();
  cli.stderr.isTerminal = true;
  cli.variables["NO_COLOR"] = "1";
  const code = start();
  for (let i = 0; i < 4; i++) {
    cli.signal("SIGINT");
    await settled();
  }
  assert.equal(await code, 130);
  assert.deepEqual(process.done, ["SIGINT", "SIGTERM", "SIGKILL"]);
  assert.equal(
    cli.stderr.text,
    "SIGINT was sent; Ctrl-C again sends SIGTERM\nSIGTERM was sent; Ctrl-C again sends SIGKILL\n" +
      "SIGKILL was sent; Ctrl-C again leaves\n",
  );
});

Deno.test("a stock server gets SIGINT, and SIGKILL for everything else", async () => {
  const { cli, process, start } = scene({ extended: false });
  const code = start();
  cli.signal("SIGINT");
  cli.signal("SIGQUIT");
  cli.signal("SIGINT");
  await settled();
  assert.deepEqual(process.done, ["SIGINT", "SIGKILL", "SIGKILL"]);
  assert.equal(cli.stderr.text, "exec-server: this server cannot pass on SIGQUIT, so the program is killed\n");
  process.exits({ code: 137, reason: null });
  process.closes();
  // Nobody is told of a signal that he sent.
  assert.equal(await code, 137);
  assert.equal(cli.stderr.text.split("\n").length, 2);
});

Deno.test("a signal that could not be sent is said, and the program attended to on", async () => {
  const { cli, process, start } = scene();
  process.refusal = new ClientError("server", "not now");
  const code = start();
  cli.signal("SIGTERM");
  await settled();
  assert.equal(cli.stderr.text, "exec-server: SIGTERM could not be sent: not now\n");
  process.exits();
  process.closes();
  assert.equal(await code, 0);
});

Deno.test("while the link is lost every signal leaves, and on a raw terminal Ctrl-C does", async () => {
  for (const signal of ["SIGINT", "SIGTERM", "SIGHUP", "SIGQUIT"] as const) {
    const { cli, process, client, start } = scene();
    const code = start();
    client.state = "recovering";
    cli.signal(signal);
    assert.equal(await code, 255);
    assert.deepEqual(process.done, []);
    assert.equal(cli.stderr.text, "exec-server: given up; the program may still run\n");
  }
  const { cli, client, start } = scene({ raw: true, tty: true, reads: true });
  const code = start();
  await settled();
  client.state = "recovering";
  cli.stdin.give("\x03");
  assert.equal(await code, 255);
  assert.equal(cli.isRaw, false);
});

Deno.test("the size of the window is told when it changes, and at the start if it differs by then", async () => {
  const { cli, process, start } = scene({ raw: true, tty: true, reads: true, size: { rows: 24, columns: 80 } });
  const code = start();
  await settled();
  cli.size = { rows: 30, columns: 90 };
  cli.signal("SIGWINCH");
  cli.signal("SIGWINCH");
  cli.size = undefined;
  cli.signal("SIGWINCH");
  assert.deepEqual(process.done, ["resize 30x90"]);
  process.exits();
  process.closes();
  await code;

  const late = scene({ raw: true, tty: true, reads: true, size: { rows: 10, columns: 20 } });
  const lateCode = late.start();
  await settled();
  assert.deepEqual(late.process.done, ["resize 24x80"]);
  late.process.exits();
  late.process.closes();
  await lateCode;
});

Deno.test("a limit of our own kills the program when its time has come", async () => {
  const { clock, cli, process, start } = scene({ extended: false, ownLimit: { text: "2s", ms: 2000 } });
  const code = start();
  await settled();
  clock.advance(1999);
  assert.deepEqual(process.done, []);
  clock.advance(1);
  assert.deepEqual(process.done, ["SIGKILL"]);
  process.exits({ code: 137, reason: null });
  process.closes();
  assert.equal(await code, 124);
  assert.equal(cli.stderr.text, "exec-server: the program was killed after 2s, its time limit\n");
  assert.equal(clock.pendingTimers, 0);
});

Deno.test("a limit longer than any timer of the platform is no short one", async () => {
  const ms = 30 * 86_400_000;
  const { clock, process, start } = scene({ extended: false, ownLimit: { text: "30d", ms } });
  const code = start();
  await settled();
  clock.advance(ms - 1);
  assert.deepEqual(process.done, []);
  clock.advance(1);
  assert.deepEqual(process.done, ["SIGKILL"]);
  process.exits({ code: 137, reason: null });
  process.closes();
  assert.equal(await code, 124);
  assert.equal(clock.pendingTimers, 0);
});

Deno.test("a limit that was not needed leaves no timer", async () => {
  const { clock, process, start } = scene({ extended: false, ownLimit: { text: "2s", ms: 2000 } });
  process.exits();
  process.closes();
  assert.equal(await start(), 0);
  assert.equal(clock.pendingTimers, 0);
});

Deno.test("a program can be left alone, and signals be somebody else's", async () => {
  const left = new AbortController();
  const { cli, process, start } = scene({ left: left.signal, ownSignals: true });
  const code = start();
  assert.equal(cli.signal("SIGINT"), false);
  left.abort(143);
  assert.equal(await code, 143);
  assert.deepEqual(process.done, []);
  assert.equal(cli.stderr.text, "");
});
