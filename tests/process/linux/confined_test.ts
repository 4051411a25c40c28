import assert from "node:assert/strict";
import { cString } from "../../../lib/linux/cstring.ts";
import * as libc from "../../../lib/linux/libc.ts";
import "../../../lib/process/linux/confined.ts"; // a library that is loaded in a test would be taken for a leak
import type { LaunchSpec } from "../../../lib/process/child.ts";
import { ChildRecord, launchSpec } from "../../support/child_record.ts";
import { FakeEnforcement } from "../../support/fake_sandbox.ts";
import {
  Bench,
  bytes,
  eventually,
  isAlive,
  leftOpen,
  never,
  openDescriptors,
  ownChildren,
} from "../../support/linux.ts";

function launch(
  { backend }: Bench,
  enforcement: FakeEnforcement,
  argv: string[],
  more: Partial<LaunchSpec> = {},
  signal = never,
) {
  const record = new ChildRecord();
  return { record, launched: backend.launchConfined(launchSpec(argv, more), enforcement, record, signal) };
}

for (const tty of [false, true]) {
  const where = tty ? "on a terminal" : "on pipes";

  Deno.test(`what was prepared is started ${where}, in /, with its descriptors from 3 on`, async () => {
    await using bench = new Bench();
    const file = libc.memoryFile(cString("plan"));
    libc.pwrite(file, bytes("the plan\n"), 0);
    const enforcement = new FakeEnforcement();
    enforcement.launch = {
      path: "/bin/sh",
      argv: ["name", "-c", "echo $0 $NAME; pwd; cat <&3; [ -t 1 ] && stty size; exit 7"],
      env: ["NAME=\xc3\xa4", "PATH=/usr/bin:/bin"],
      descriptors: [file],
    };
    const terminalSize = { rows: 5, columns: 66 };
    const { record, launched } = launch(bench, enforcement, ["x"], { tty, terminalSize, cwd: bytes("/usr") });
    await launched;
    libc.close(file);
    const events = await record.end();
    const stream = tty ? "pty" : "stdout";
    assert.equal(record.text(stream).replaceAll("\r", ""), `name ä\n/\nthe plan\n${tty ? "5 66\n" : ""}`);
    assert.deepEqual(events.slice(-2), ["exited 7", "closed"]);
    assert.deepEqual(enforcement.calls, ["prepare", "started", "close", "ended"]);
  });

  Deno.test(`a start ${where} that fails is over at once, and leaves nothing open`, async () => {
    await using bench = new Bench();
    await bench.run(":"); // what stays open for as long as the back end lives
    const before = openDescriptors();
    const enforcement = new FakeEnforcement();
    enforcement.launch = { path: "/no/such" };
    const { launched } = launch(bench, enforcement, ["x"], { tty });
    await assert.rejects(launched, { kind: "spawnNotFound", message: "No such file or directory (os error 2)" });
    assert.deepEqual(enforcement.calls, ["prepare", "ended", "close"]);
    assert.deepEqual(leftOpen(before), []);
  });
}

Deno.test("a program is prepared with bytes: its names, its sorted variables, the real path of its directory", async () => {
  await using bench = new Bench();
  await using scratch = await directory();
  await Deno.symlink(scratch.path, `${scratch.path}/link`);
  const enforcement = new FakeEnforcement();
  enforcement.launch = { path: "/bin/true" };
  const env = new Map([["ö", "1"], ["B", "\u{10000}"], ["A", "2"]]);
  const cwd = bytes(`${scratch.path}/link`);
  const { record, launched } = launch(bench, enforcement, ["tool", "ä"], { arg0: "other", env, cwd });
  await launched;
  await record.end();
  const { file, argv, env: variables, cwd: directoryInside } = enforcement.programs[0]!;
  assert.deepEqual({ file, argv, env: variables, cwd: directoryInside }, {
    file: "tool",
    argv: ["other", "\xc3\xa4"],
    env: ["A=2", "B=\xf0\x90\x80\x80", "\xc3\xb6=1"],
    cwd: scratch.path,
  });
});

Deno.test("a terminal's program also gets SHELL, and runs at home where its directory is not there", async () => {
  await using bench = new Bench();
  const enforcement = new FakeEnforcement();
  enforcement.launch = { path: "/bin/true" };
  const env = new Map([["HOME", "/usr"]]);
  const { record, launched } = launch(bench, enforcement, ["tool"], { tty: true, env, cwd: bytes("/no/such") });
  await launched;
  await record.end();
  const [program] = enforcement.programs;
  assert.equal(program!.cwd, "/usr");
  assert.match(program!.env.join("\n"), /^HOME=\/usr\nSHELL=\/\S+$/);
});

Deno.test("what cannot be handed over, and a directory that is none, is refused before anything is prepared", async () => {
  await using bench = new Bench();
  const enforcement = new FakeEnforcement();
  const refused = async (more: Partial<LaunchSpec>, kind: string, message: string) =>
    await assert.rejects(launch(bench, enforcement, ["x"], more).launched, { kind, message });
  await refused({ cwd: bytes("/no/such") }, "spawnNotFound", "No such file or directory (os error 2)");
  await refused({ cwd: bytes("/bin/sh") }, "spawnFailed", "Not a directory (os error 20)");
  await refused({ arg0: "a\0b" }, "spawnFailed", "nul byte found in provided data");
  await refused({ env: new Map([["A", "\0"]]) }, "spawnFailed", "data provided contains a nul byte");
  assert.deepEqual(enforcement.calls, []);
});

Deno.test("a start that nobody wants any more starts nothing", async () => {
  await using bench = new Bench();
  const children = ownChildren();
  const aborter = new AbortController();
  const enforcement = new FakeEnforcement();
  enforcement.preparing = Promise.resolve().then(() => aborter.abort(new Error("given up")));
  const { launched } = launch(bench, enforcement, ["/bin/sleep", "60"], {}, aborter.signal);
  await assert.rejects(launched, { message: "given up" });
  assert.deepEqual(enforcement.calls, ["prepare", "aborted", "ended", "close"]);
  assert.ok(ownChildren().length <= children.length + 1, "at most the watchdog");
});

Deno.test("a server that ends while a start is prepared starts nothing", async () => {
  await using bench = new Bench();
  const enforcement = new FakeEnforcement();
  enforcement.preparing = Promise.resolve().then(() => bench.backend[Symbol.dispose]());
  const { launched } = launch(bench, enforcement, ["/bin/sleep", "60"]);
  await assert.rejects(launched, { kind: "internal", message: "the server is ending" });
  assert.deepEqual(enforcement.calls, ["prepare", "ended", "close"]);
});

Deno.test("the end of a program is told once, and also when nobody wants to hear of it any more", async () => {
  await using bench = new Bench();
  const terminated = new FakeEnforcement();
  const first = launch(bench, terminated, ["/bin/sleep", "60"]);
  (await first.launched).terminate();
  assert.deepEqual(await first.record.end(), ["exited 137", "closed"]);
  assert.deepEqual(terminated.calls, ["prepare", "started", "close", "ended"]);

  const forgotten = new FakeEnforcement();
  const second = launch(bench, forgotten, ["/bin/sleep", "60"]);
  (await second.launched)[Symbol.dispose]();
  await eventually("its end is told", () => forgotten.calls.includes("ended"));
  assert.deepEqual(forgotten.calls, ["prepare", "started", "close", "ended"]);
  assert.deepEqual(second.record.events, []);
});

Deno.test("what a sandbox leaves in the group of the one that was started is killed when that ends", async () => {
  await using bench = new Bench();
  const sandbox = new FakeEnforcement();
  sandbox.launch = { path: "/bin/sh", argv: ["sh", "-c", "sleep 600 & echo $!; exit 3"] };
  sandbox.gone = Promise.resolve();
  const { record, launched } = launch(bench, sandbox, ["x"]);
  await launched;
  assert.deepEqual((await record.end()).slice(-2), ["exited 3", "closed"]);
  const left = Number(record.text("stdout"));
  await eventually("it has been killed", () => !isAlive(left));
});

Deno.test("where there is no sandbox around it, what a program leaves in the background goes on", async () => {
  await using bench = new Bench();
  const enforcement = new FakeEnforcement();
  enforcement.launch = { path: "/bin/sh", argv: ["sh", "-c", "exec 8<&0; (read -r line <&8; echo $line) & exit 3"] };
  const { record, launched } = launch(bench, enforcement, ["x"], { pipeStdin: true });
  const child = await launched;
  await record.until(() => record.events.includes("exited 3"));
  child.write(bytes("late\n"), never);
  assert.deepEqual(await record.end(), ["exited 3", "stdout:late\n", "closed"]);
});

Deno.test("the end of the server tells of the end of every program that it confined", async () => {
  const enforcement = new FakeEnforcement();
  {
    await using bench = new Bench();
    await launch(bench, enforcement, ["/bin/sleep", "60"]).launched;
  }
  assert.deepEqual(enforcement.calls, ["prepare", "started", "close", "ended"]);
});

async function directory(): Promise<AsyncDisposable & { readonly path: string }> {
  const path = await Deno.realPath(await Deno.makeTempDir({ prefix: "exec-server-confined-" }));
  return { path, [Symbol.asyncDispose]: () => Deno.remove(path, { recursive: true }) };
}
