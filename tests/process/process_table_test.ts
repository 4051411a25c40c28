import assert from "node:assert/strict";
import { ExecError } from "../../lib/errors.ts";
import { silentLog } from "../../lib/log.ts";
import { CLOSED_RETENTION_MS, ProcessTable, type StartSpec } from "../../lib/process/process_table.ts";
import { FakeEnforcement } from "../support/fake_sandbox.ts";
import { FakeBackend } from "../support/fake_backend.ts";
import { ManualClock } from "../support/manual_clock.ts";

const never = new AbortController().signal;

interface Stage {
  table: ProcessTable;
  backend: FakeBackend;
  clock: ManualClock;
  heard: string[];
  /** What the session answers to output. */
  accept: boolean;
}

function stage(): Stage {
  const backend = new FakeBackend();
  const clock = new ManualClock();
  const heard: string[] = [];
  const table = new ProcessTable({
    backend,
    clock,
    log: silentLog,
    events: {
      output(processId, seq): boolean {
        heard.push(`${processId} ${seq} output`);
        return result.accept;
      },
      exited: (processId, seq, exitCode) => heard.push(`${processId} ${seq} exited ${exitCode}`),
      closed: (processId, seq) => heard.push(`${processId} ${seq} closed`),
    },
  });
  const result: Stage = { table, backend, clock, heard, accept: true };
  return result;
}

function spec(processId: string, more: Partial<StartSpec> = {}): StartSpec {
  return {
    processId,
    argv: ["/bin/true"],
    arg0: null,
    cwd: new TextEncoder().encode("/"),
    env: new Map(),
    tty: false,
    pipeStdin: false,
    ...more,
  };
}

function read(table: ProcessTable, processId: string) {
  return table.read({ processId, afterSeq: 0, maxBytes: null, waitMs: 0 }, never);
}

function write(table: ProcessTable, processId: string) {
  return table.write({ processId, chunk: new Uint8Array(1), writeId: null }, never);
}

function end(it: Stage, exitCode = 0): void {
  it.backend.child.exit(exitCode);
  it.backend.child.close();
}

const unknown = (id: string) => ({ kind: "invalidRequest", message: `unknown process id ${id}` });
const taken = (id: string) => ({ kind: "invalidRequest", message: `process ${id} already exists` });

Deno.test("ProcessTable starts a process and passes its events on under its id", () => {
  const it = stage();
  assert.equal(it.table.start(spec("", { argv: ["x", "y"] })), undefined);
  assert.deepEqual(it.backend.specs[0]?.argv, ["x", "y"]);
  it.backend.child.say("a");
  end(it, 3);
  assert.deepEqual(it.heard, [" 1 output", " 2 exited 3", " 3 closed"]);
});

Deno.test("start refuses an empty argv before a taken id, and a taken id before it launches anything", () => {
  const { table, backend } = stage();
  table.start(spec("p"));
  assert.throws(() => table.start(spec("p", { argv: [] })), {
    kind: "invalidParams",
    message: "argv must not be empty",
  });
  assert.throws(() => table.start(spec("p")), taken("p"));
  assert.equal(backend.children.length, 1);
});

Deno.test("a failed start leaves no trace, whether it fails at once or later", async () => {
  const { table, backend } = stage();
  backend.failure = new ExecError("spawnNotFound", "No such file or directory (os error 2)");
  assert.throws(() => table.start(spec("p")), { kind: "spawnNotFound" });
  backend.slow = true;
  const starting = table.start(spec("p"));
  const failing = assert.rejects(async () => await starting, { kind: "spawnNotFound" });
  await backend.finish();
  await failing;
  assert.throws(() => read(table, "p"), unknown("p"));
  backend.failure = null;
  backend.slow = false;
  table.start(spec("p"));
  assert.equal(backend.children.length, 1);
});

Deno.test("while a process is starting its id is taken and it can be neither read nor written", async () => {
  const { table, backend } = stage();
  backend.slow = true;
  const starting = table.start(spec("p", { pipeStdin: true }));
  assert.throws(() => table.start(spec("p")), taken("p"));
  assert.throws(() => read(table, "p"), { kind: "invalidRequest", message: "process id p is starting" });
  assert.equal(write(table, "p"), "starting");
  table.interrupt("p");
  await backend.finish();
  await starting;
  assert.deepEqual(backend.child.calls, []);
  assert.equal(write(table, "p"), "accepted");
});

Deno.test("terminating a start cancels it at once, frees the id, and kills the child unseen when it comes", async () => {
  const { table, backend, heard } = stage();
  backend.slow = true;
  const first = table.start(spec("p"));
  assert.equal(table.terminate("p"), true);
  await assert.rejects(async () => await first, { kind: "invalidRequest", message: "process p start was cancelled" });
  assert.equal(table.terminate("p"), false);
  const second = table.start(spec("p"));
  await backend.finish();
  await backend.finish();
  await second;
  const [cancelled, newer] = backend.children;
  assert.deepEqual([cancelled?.disposed, newer?.disposed], [true, false]);
  newer?.say("a");
  assert.deepEqual(heard, ["p 1 output"]);
});

Deno.test("a cancelled start that fails by itself does not disturb its successor", async () => {
  const { table, backend } = stage();
  backend.slow = true;
  const first = table.start(spec("p"));
  const cancelled = assert.rejects(async () => await first, { message: "process p start was cancelled" });
  table.terminate("p");
  await cancelled;
  const second = table.start(spec("p"));
  backend.failure = new ExecError("spawnFailed", "no");
  await backend.finish();
  backend.failure = null;
  await backend.finish();
  await second;
  assert.ok(read(table, "p"));
});

Deno.test("a program that is to be confined is launched in what was found for it once its id was taken", async () => {
  const it = stage();
  const enforcement = new FakeEnforcement();
  const finding = Promise.withResolvers<FakeEnforcement>();
  const starting = it.table.start(spec("p", { confine: () => finding.promise }));
  assert.throws(() => it.table.start(spec("p")), taken("p"));
  assert.deepEqual(it.backend.specs, []);
  finding.resolve(enforcement);
  await starting;
  assert.deepEqual(it.backend.enforcements, [enforcement]);
  end(it);
  assert.deepEqual(it.heard, ["p 1 exited 0", "p 2 closed"]);
});

Deno.test("a program for which nothing is to be enforced is launched like any other", async () => {
  const it = stage();
  await it.table.start(spec("p", { confine: () => Promise.resolve(null) }));
  assert.equal(it.backend.specs.length, 1);
  assert.deepEqual(it.backend.enforcements, []);
});

Deno.test("a start for which no confinement is found leaves no trace", async () => {
  const { table, backend } = stage();
  const failure = new ExecError("sandboxUnavailable", "none");
  await assert.rejects(async () => await table.start(spec("p", { confine: () => Promise.reject(failure) })), failure);
  assert.throws(() => read(table, "p"), unknown("p"));
  assert.deepEqual(backend.specs, []);
});

Deno.test("a program that runs stays, whoever wanted it to start", async () => {
  const it = stage();
  const wanted = new AbortController();
  it.table.start(spec("at once"), wanted.signal);
  const confine = () => Promise.resolve(new FakeEnforcement());
  await it.table.start(spec("confined", { confine }), wanted.signal);
  wanted.abort();
  assert.deepEqual(it.table.list().map(({ processId, end }) => [processId, end]), [["at once", null], [
    "confined",
    null,
  ]]);
});

Deno.test("cancelling a start, or the end of the table, gives up the search for its confinement", async () => {
  const wanted = new AbortController();
  for (
    const cancel of [
      (it: Stage) => it.table.terminate("p"),
      (it: Stage) => it.table[Symbol.dispose](),
      () => wanted.abort(),
    ]
  ) {
    const it = stage();
    const finding = Promise.withResolvers<FakeEnforcement>();
    let given: AbortSignal | undefined;
    const confine = (signal: AbortSignal) => {
      given = signal;
      return finding.promise;
    };
    const starting = it.table.start(spec("p", { confine }), wanted.signal);
    cancel(it);
    assert.equal(given?.aborted, true);
    await assert.rejects(async () => await starting, { message: "process p start was cancelled" });
    finding.resolve(new FakeEnforcement());
    await finding.promise;
    await Promise.resolve();
    assert.deepEqual(it.backend.specs, []);
  }
});

Deno.test("a failure is taken for a denial where there is a sandbox, of whatever type", () => {
  for (const sandboxType of ["none", undefined, "linuxSeccomp"]) {
    const it = stage();
    it.table.start(spec("p", sandboxType === undefined ? {} : { sandboxType }));
    it.backend.child.say("Permission denied");
    it.backend.child.exit(1);
    assert.equal((read(it.table, "p") as { sandboxDenied: boolean }).sandboxDenied, sandboxType === "linuxSeccomp");
  }
});

Deno.test("requests about an unknown process are refused, reported or ignored", () => {
  const { table } = stage();
  assert.throws(() => read(table, "no"), unknown("no"));
  assert.equal(write(table, "no"), "unknownProcess");
  assert.equal(table.terminate("no"), false);
  table.interrupt("no");
});

Deno.test("a process without stdin says so, one on a terminal always has one", () => {
  const { table } = stage();
  table.start(spec("none"));
  table.start(spec("pipe", { pipeStdin: true }));
  table.start(spec("tty", { tty: true }));
  assert.deepEqual(["none", "pipe", "tty"].map((id) => write(table, id)), ["stdinClosed", "accepted", "accepted"]);
});

Deno.test("interrupt and terminate reach the running process of that id", () => {
  const { table, backend } = stage();
  table.start(spec("p"));
  table.interrupt("p");
  assert.equal(table.terminate("p"), true);
  assert.deepEqual(backend.child.calls, ["SIGINT", "terminate"]);
  backend.child.exit(137);
  assert.equal(table.terminate("p"), false);
});

Deno.test("a closed process stays readable, and its id taken, for eighty seconds", () => {
  const it = stage();
  it.table.start(spec("p"));
  end(it);
  it.clock.advance(CLOSED_RETENTION_MS - 1);
  assert.ok(read(it.table, "p"));
  assert.throws(() => it.table.start(spec("p")), taken("p"));
  it.clock.advance(1);
  assert.throws(() => read(it.table, "p"), unknown("p"));
  assert.equal(it.clock.pendingTimers, 0);
  it.table.start(spec("p"));
});

Deno.test("an exited process that is not closed is kept for as long as that lasts", () => {
  const it = stage();
  it.table.start(spec("p"));
  it.backend.child.exit(0);
  it.clock.advance(100 * CLOSED_RETENTION_MS);
  assert.ok(read(it.table, "p"));
});

Deno.test("the clock decides over expiry even when the timer is late", () => {
  const it = stage();
  it.table.start(spec("p"));
  end(it);
  it.clock.skip(CLOSED_RETENTION_MS);
  assert.throws(() => read(it.table, "p"), unknown("p"));
});

Deno.test("one timer forgets every closed process at its own time", () => {
  const it = stage();
  for (const id of ["a", "b", "c"]) {
    it.table.start(spec(id));
    end(it);
    it.clock.advance(10_000);
  }
  assert.equal(it.clock.pendingTimers, 1);
  it.clock.advance(CLOSED_RETENTION_MS - 20_000);
  assert.throws(() => read(it.table, "a"), unknown("a"));
  assert.throws(() => read(it.table, "b"), unknown("b"));
  assert.ok(read(it.table, "c"));
  it.clock.advance(10_000);
  assert.throws(() => read(it.table, "c"), unknown("c"));
  assert.equal(it.clock.pendingTimers, 0);
});

Deno.test("forgetting an older process does not remove a newer one of the same id", () => {
  const it = stage();
  it.table.start(spec("p"));
  end(it);
  it.clock.skip(CLOSED_RETENTION_MS);
  it.table.start(spec("p"));
  it.clock.advance(1);
  assert.ok(read(it.table, "p"));
  end(it);
  it.clock.advance(CLOSED_RETENTION_MS - 1);
  assert.ok(read(it.table, "p"));
});

Deno.test("resumeOutput lets exactly the processes read on whose output was refused, once", () => {
  const it = stage();
  it.table.start(spec("a"));
  it.table.start(spec("b"));
  const [a, b] = it.backend.children;
  it.accept = false;
  assert.equal(b?.say("x"), false);
  it.accept = true;
  assert.equal(a?.say("x"), true);
  it.table.resumeOutput();
  it.table.resumeOutput();
  assert.deepEqual([a?.calls, b?.calls], [[], ["resume"]]);
});

Deno.test("get and known find what has been started, and say what has not", async () => {
  const it = stage();
  it.table.start(spec("p"));
  assert.equal(it.table.get("p").summary.processId, "p");
  assert.equal(it.table.known("no"), undefined);
  assert.throws(() => it.table.get("no"), unknown("no"));
  it.backend.slow = true;
  const starting = it.table.start(spec("s"));
  for (const find of [() => it.table.get("s"), () => it.table.known("s")]) {
    assert.throws(find, { kind: "invalidRequest", message: "process id s is starting" });
  }
  assert.deepEqual(it.table.list().map(({ processId }) => processId), ["p"]);
  await it.backend.finish();
  await starting;
  assert.deepEqual(it.table.list().map(({ processId }) => processId), ["p", "s"]);
});

Deno.test("list has every process that is remembered, in the order of the starts, with what it was started as", () => {
  const it = stage();
  const before = Date.now();
  it.table.start(spec("a", { argv: ["x", "y".repeat(10_000)], tty: true }));
  it.table.start(spec("b", { sandboxType: "linuxSeccomp" }));
  end(it, 3);
  const [a, b] = it.table.list();
  assert.deepEqual([a?.processId, a?.tty, a?.sandboxType, a?.argv.join(" ").length], ["a", true, "none", 4096]);
  assert.ok(a!.startedAtMs >= before && a!.startedAtMs <= Date.now());
  assert.deepEqual([b?.processId, b?.sandboxType, b?.end?.exitCode, b?.closed], ["b", "linuxSeccomp", 3, true]);
  it.clock.skip(CLOSED_RETENTION_MS);
  assert.deepEqual(it.table.list().map(({ processId }) => processId), ["a"]);
});

Deno.test("keepClosedFor keeps closed processes readable, and their ids taken, for longer", () => {
  const it = stage();
  it.table.start(spec("p"));
  end(it);
  it.table.keepClosedFor(10 * CLOSED_RETENTION_MS);
  it.clock.advance(10 * CLOSED_RETENTION_MS - 1);
  assert.ok(read(it.table, "p"));
  assert.throws(() => it.table.start(spec("p")), taken("p"));
  it.clock.advance(1);
  assert.throws(() => read(it.table, "p"), unknown("p"));
});

Deno.test("releaseHolds lets every held process go on, and leaves those alone that start", async () => {
  const it = stage();
  it.table.start(spec("a"));
  it.table.start(spec("b"));
  it.table.get("a").hold(true);
  it.backend.slow = true;
  const starting = it.table.start(spec("s"));
  it.table.releaseHolds();
  const [a, b] = it.backend.children;
  assert.deepEqual([a?.calls, b?.calls], [["resume"], []]);
  await it.backend.finish();
  await starting;
});

Deno.test("dispose kills every group before it disposes of anything, exited and closed processes included", async () => {
  const it = stage();
  const order: string[] = [];
  for (const id of ["closed", "exited", "running"]) {
    it.table.start(spec(id));
    const child = it.backend.child;
    child.calls.push = (...calls) => order.push(...calls.map((call) => `${id} ${call}`));
    if (id !== "running") child.exit(0);
    if (id === "closed") child.close();
  }
  const reading = it.table.read({ processId: "running", afterSeq: 0, maxBytes: null, waitMs: 1e9 }, never);
  it.backend.slow = true;
  const starting = it.table.start(spec("starting"));
  const cancelled = assert.rejects(async () => await starting, { message: "process starting start was cancelled" });
  it.heard.length = 0;
  it.table[Symbol.dispose]();
  it.table[Symbol.dispose]();
  assert.deepEqual(order, [
    ...["closed killGroup", "exited killGroup", "running killGroup"],
    ...["closed dispose", "exited dispose", "running dispose"],
  ]);
  await cancelled;
  assert.equal((await reading).exited, false);
  await it.backend.finish();
  assert.equal(it.backend.child.disposed, true);
  assert.equal(it.clock.pendingTimers, 0);
  for (const child of it.backend.children) child.say("late");
  assert.deepEqual(it.heard, []);
  assert.throws(() => read(it.table, "running"), unknown("running"));
  assert.throws(() => it.table.start(spec("new")), { message: "the process table has been disposed of" });
});
