import assert from "node:assert/strict";
import fc from "fast-check";
import type { StreamName } from "../../lib/process/child.ts";
import { ManagedProcess, type ReadResult } from "../../lib/process/managed_process.ts";
import { FakeChild } from "../support/fake_backend.ts";
import { ManualClock } from "../support/manual_clock.ts";

const never = new AbortController().signal;

interface Stage {
  process: ManagedProcess;
  child: FakeChild;
  clock: ManualClock;
  heard: string[];
  /** What the listener answers to output. */
  accept: boolean;
}

function stage(
  { tty = false, hasStdin = true, guessSandboxDenied = false, ...more }: {
    tty?: boolean;
    hasStdin?: boolean;
    guessSandboxDenied?: boolean;
    timeLimitMs?: number;
  } = {},
): Stage {
  const clock = new ManualClock();
  const heard: string[] = [];
  const process = new ManagedProcess({
    ...more,
    description: { processId: "p", argv: ["x"], tty, startedAtMs: 1, sandboxType: "none" },
    hasStdin,
    guessSandboxDenied,
    clock,
    listener: {
      output(seq: number, stream: StreamName, bytes: Uint8Array): boolean {
        heard.push(`${seq} ${stream} ${new TextDecoder().decode(bytes)}`);
        return result.accept;
      },
      exited: (seq, exitCode, denied) => heard.push(`${seq} exited ${exitCode}${denied ? " denied" : ""}`),
      closed: (seq) => heard.push(`${seq} closed`),
    },
  });
  const child = new FakeChild(process);
  process.attach(child);
  const result: Stage = { process, child, clock, heard, accept: true };
  return result;
}

/** A read as a short text: chunks, the next number, the state. */
function show(result: ReadResult | Promise<ReadResult>): string {
  assert.ok(!(result instanceof Promise), "the answer should not have to wait");
  const chunks = result.chunks.map(({ seq, bytes }) => `${seq}:${new TextDecoder().decode(bytes)}`).join(" ");
  const state = result.closed ? " closed" : result.exited ? " exited" : "";
  return `[${chunks}] next ${result.nextSeq}${state}`;
}

const query = { afterSeq: 0, maxBytes: null, waitMs: 0 };

Deno.test("ManagedProcess numbers output, exit and close from 1 in one line, late output included", () => {
  const { child, heard } = stage();
  child.say("a");
  child.say("b", "stderr");
  child.exit(3);
  child.say("late");
  child.close();
  assert.deepEqual(heard, ["1 stdout a", "2 stderr b", "3 exited 3", "4 stdout late", "5 closed"]);
});

Deno.test("ManagedProcess hands the listener's wish to pause, and to go on, to the child", () => {
  const it = stage();
  assert.equal(it.child.say("a"), true);
  it.accept = false;
  assert.equal(it.child.say("b"), false);
  it.process.resume();
  assert.deepEqual(it.child.calls, ["resume"]);
});

Deno.test("read gives chunks after the cursor and the number of the next event", () => {
  const { process, child } = stage();
  assert.equal(show(process.read(query, never)), "[] next 1");
  child.say("a");
  child.say("bb");
  assert.equal(show(process.read(query, never)), "[1:a 2:bb] next 3");
  assert.equal(show(process.read({ ...query, afterSeq: 1 }, never)), "[2:bb] next 3");
  assert.equal(show(process.read({ ...query, afterSeq: 99 }, never)), "[] next 3");
  child.exit(0);
  child.close();
  assert.equal(show(process.read({ ...query, afterSeq: 2 }, never)), "[] next 5 closed");
});

Deno.test("read with maxBytes never cuts a chunk, takes the first whatever its size, and goes on after the last", () => {
  const { process, child } = stage();
  for (const text of ["aaa", "b", "cc"]) child.say(text);
  child.exit(0);
  child.close();
  const bounded = (maxBytes: number, afterSeq = 0) => show(process.read({ afterSeq, maxBytes, waitMs: 0 }, never));
  assert.equal(bounded(0), "[1:aaa] next 2 closed");
  assert.equal(bounded(3), "[1:aaa] next 2 closed");
  assert.equal(bounded(5), "[1:aaa 2:b] next 3 closed");
  assert.equal(bounded(6), "[1:aaa 2:b 3:cc] next 4 closed");
  assert.equal(bounded(6, 3), "[] next 6 closed");
});

Deno.test("read shows a gap where output was evicted", () => {
  const { process, child } = stage();
  for (let i = 0; i < 17; i++) child.events.output("stdout", new Uint8Array(65_536));
  const result = process.read({ ...query, maxBytes: 0 }, never);
  assert.ok(!(result instanceof Promise));
  assert.deepEqual([result.chunks[0]?.seq, result.nextSeq], [2, 3]);
});

Deno.test("a waiting read is answered by the next output, and its timer is gone", async () => {
  const { process, child, clock } = stage();
  child.say("old");
  const reading = process.read({ ...query, afterSeq: 1, waitMs: 1_000 }, never);
  assert.ok(reading instanceof Promise);
  child.say("new");
  assert.equal(show(await reading), "[2:new] next 3");
  assert.equal(clock.pendingTimers, 0);
});

Deno.test("a waiting read is not answered by output before its cursor", async () => {
  const { process, child, clock } = stage();
  const reading = process.read({ ...query, afterSeq: 1, waitMs: 1_000 }, never);
  child.say("before");
  assert.equal(clock.pendingTimers, 1);
  clock.advance(1_000);
  assert.equal(show(await reading), "[] next 2");
});

Deno.test("a waiting read is answered by the exit when that is news, else by late output or the close", async () => {
  const { process, child } = stage();
  const news = process.read({ ...query, waitMs: 1_000 }, never);
  const late = process.read({ ...query, afterSeq: 1, waitMs: 1_000 }, never);
  const close = process.read({ ...query, afterSeq: 50, waitMs: 1_000 }, never);
  child.exit(3);
  assert.equal(show(await news), "[] next 2 exited");
  assert.equal(show(process.read({ ...query, waitMs: 1_000 }, never)), "[] next 2 exited");
  child.say("late");
  assert.equal(show(await late), "[2:late] next 3 exited");
  child.close();
  assert.equal(show(await close), "[] next 4 closed");
});

Deno.test("a read waits for as long as it asked, beyond the longest timer of the platform", async () => {
  const { process, clock } = stage();
  const year = 366 * 86_400_000;
  let answered = false;
  const reading = Promise.resolve(process.read({ ...query, waitMs: year }, never)).then((result) => {
    answered = true;
    return result;
  });
  clock.advance(year - 1);
  await Promise.resolve();
  assert.equal(answered, false);
  clock.advance(1);
  assert.equal(show(await reading), "[] next 1");
  assert.equal(clock.pendingTimers, 0);
});

Deno.test("an aborted read ends with the signal's reason and leaves neither timer nor waiter", async () => {
  const { process, child, clock } = stage();
  const abort = new AbortController();
  const reading = process.read({ ...query, waitMs: 1_000 }, abort.signal);
  abort.abort(new Error("gone"));
  await assert.rejects(async () => await reading, { message: "gone" });
  assert.equal(clock.pendingTimers, 0);
  child.say("a");
  await assert.rejects(async () => await process.read({ ...query, afterSeq: 1, waitMs: 1 }, abort.signal), {
    message: "gone",
  });
  assert.equal(clock.pendingTimers, 0);
});

Deno.test("write tells a program without stdin from one whose bytes nobody will read", () => {
  const closed = stage({ hasStdin: false });
  assert.equal(closed.process.write(new Uint8Array(1), "w", never), "stdinClosed");
  const { process, child } = stage();
  const bytes = new TextEncoder().encode("x");
  assert.equal(process.write(bytes, "a", never), "accepted");
  child.exit(0);
  assert.equal(process.write(bytes, "b", never), "accepted");
  child.close();
  assert.equal(process.write(bytes, "c", never), "accepted");
  assert.deepEqual(child.written, ["x", "x"]);
});

Deno.test("a write id is applied once, whatever comes with it again, and no id at all every time", () => {
  const { process, child } = stage();
  const write = (text: string, id: string | null) => process.write(new TextEncoder().encode(text), id, never);
  for (const [text, id] of [["1", "a"], ["2", "a"], ["3", "b"], ["4", null], ["4", null]] as const) {
    assert.equal(write(text, id), "accepted");
  }
  assert.deepEqual(child.written, ["1", "3", "4", "4"]);
});

Deno.test("the last 4096 write ids are remembered", () => {
  const { process, child } = stage();
  const write = (id: number) => process.write(new TextEncoder().encode(`${id}`), `w${id}`, never);
  for (let id = 0; id <= 4096; id++) write(id);
  write(1);
  assert.equal(child.written.length, 4097);
  write(0);
  assert.equal(child.written.at(-1), "0");
});

Deno.test("two writes of the same id that wait for room at the same time are applied once", async () => {
  const { process, child } = stage();
  child.full = true;
  const first = process.write(new TextEncoder().encode("1"), "w", never);
  const second = process.write(new TextEncoder().encode("2"), "w", never);
  assert.equal(child.waiting.length, 1);
  child.waiting[0]?.admit();
  assert.deepEqual(await Promise.all([first, second]), ["accepted", "accepted"]);
  assert.deepEqual(child.written, ["1"]);
});

Deno.test("a write that is given up while waiting frees its id for its twin and for later", async () => {
  const { process, child } = stage();
  child.full = true;
  const abort = new AbortController();
  const first = process.write(new TextEncoder().encode("1"), "w", abort.signal);
  const second = process.write(new TextEncoder().encode("2"), "w", never);
  const third = process.write(new TextEncoder().encode("3"), "w", abort.signal);
  child.full = false;
  abort.abort(new Error("gone"));
  await assert.rejects(async () => await first, { message: "gone" });
  await assert.rejects(async () => await third, { message: "gone" });
  assert.equal(await second, "accepted");
  assert.deepEqual(child.written, ["2"]);
});

Deno.test("after terminate waiting and new writes fail, and known ids are still known", async () => {
  const { process, child } = stage();
  const failure = { name: "ExecError", kind: "internal", message: "failed to write to process stdin" };
  process.write(new Uint8Array(1), "known", never);
  child.full = true;
  const waiting = process.write(new Uint8Array(1), "waiting", never);
  assert.equal(process.terminate(), true);
  await assert.rejects(async () => await waiting, failure);
  assert.throws(() => process.write(new Uint8Array(1), "new", never), failure);
  child.exit(137);
  child.close();
  assert.throws(() => process.write(new Uint8Array(1), "new", never), failure);
  assert.equal(process.write(new Uint8Array(1), "known", never), "accepted");
});

Deno.test("signals reach a program until it has exited; its background children are left alone", () => {
  const { process, child } = stage();
  process.signal("SIGINT");
  assert.equal(process.terminate(), true);
  assert.equal(process.terminate(), true);
  child.exit(137);
  process.signal("SIGINT");
  assert.equal(process.terminate(), false);
  assert.deepEqual(child.calls, ["SIGINT", "terminate", "terminate"]);
});

Deno.test("a program that may not be signalled, having changed its user, is no fault of the server", () => {
  const { process, child } = stage();
  child.signal = () => {
    throw new Deno.errors.PermissionDenied("Operation not permitted (os error 1)");
  };
  assert.throws(() => process.signal("SIGINT"), {
    name: "ExecError",
    kind: "internal",
    message: "failed to signal process: Operation not permitted (os error 1)",
  });
});

Deno.test("dispose ends waiting reads and writes and lets no later event through", async () => {
  const { process, child, clock, heard } = stage();
  child.full = true;
  const reading = process.read({ ...query, waitMs: 1_000 }, never);
  const writing = process.write(new Uint8Array(1), "w", never);
  process[Symbol.dispose]();
  process[Symbol.dispose]();
  assert.equal(show(await reading), "[] next 1");
  await assert.rejects(async () => await writing, { kind: "internal" });
  assert.equal(child.say("a"), true);
  child.exit(0);
  child.close();
  assert.deepEqual(heard, []);
  assert.deepEqual(child.calls, ["dispose"]);
  assert.equal(clock.pendingTimers, 0);
});

Deno.test("the guess at a denial is made at the exit, told from then on, and never unasked", () => {
  for (const guessSandboxDenied of [true, false]) {
    const { process, child, heard } = stage({ guessSandboxDenied });
    const told = (): boolean => {
      const result = process.read(query, never);
      assert.ok(!(result instanceof Promise));
      return result.sandboxDenied;
    };
    child.say("sandbox");
    assert.equal(told(), false);
    child.exit(1);
    assert.equal(told(), guessSandboxDenied);
    assert.equal(heard.at(-1), guessSandboxDenied ? "2 exited 1 denied" : "2 exited 1");
  }
  const late = stage({ guessSandboxDenied: true });
  late.child.exit(1);
  late.child.say("sandbox");
  assert.deepEqual(late.heard, ["1 exited 1", "2 stdout sandbox"]);
});

Deno.test("a reader who follows nextSeq gets every retained byte once, in order, whatever its bounds", () => {
  const chunk = fc.string({ minLength: 1, maxLength: 9, unit: "grapheme-ascii" });
  const step = fc.oneof(fc.record({ say: chunk }), fc.record({ read: fc.nat(20) }));
  fc.assert(fc.property(fc.array(step, { maxLength: 60 }), (steps) => {
    const { process, child } = stage();
    let said = "";
    let read = "";
    let cursor = 0;
    const readOn = (maxBytes: number | null): number => {
      const result = process.read({ afterSeq: cursor, maxBytes, waitMs: 0 }, never);
      assert.ok(!(result instanceof Promise));
      cursor = result.nextSeq - 1;
      for (const { bytes } of result.chunks) read += new TextDecoder().decode(bytes);
      return result.chunks.length;
    };
    for (const step of steps) {
      if ("read" in step) {
        readOn(step.read);
      } else {
        child.say(step.say);
        said += step.say;
      }
    }
    child.exit(0);
    child.close();
    readOn(null);
    assert.equal(read, said);
  }));
});

Deno.test("summary tells what the process was started as, how it stands and how it ended", () => {
  const { process, child } = stage();
  const started = { processId: "p", argv: ["x"], tty: false, startedAtMs: 1, sandboxType: "none", pid: 4242 };
  assert.deepEqual(process.summary, { ...started, hasStdin: true, end: null, closed: false });
  child.exit(3);
  const end = { exitCode: 3, signal: null, reason: "exited" };
  assert.deepEqual(process.summary, { ...started, hasStdin: false, end, closed: false });
  child.close();
  assert.deepEqual(process.summary, { ...started, hasStdin: false, end, closed: true });
  assert.equal(stage({ hasStdin: false }).process.summary.hasStdin, false);
});

Deno.test("the reason of an end is ours only if SIGKILL ended the program after we sent it", () => {
  const reasonOf = (act: (it: Stage) => void, code: number, signal: string | null) => {
    const it = stage({ timeLimitMs: 1_000 });
    act(it);
    it.child.exit(code, signal);
    return it.process.summary.end?.reason;
  };
  const terminate = ({ process }: Stage) => process.terminate();
  const outrun = ({ clock }: Stage) => clock.advance(1_000);
  const both = (it: Stage) => (outrun(it), terminate(it));
  assert.equal(reasonOf(() => {}, 0, null), "exited");
  assert.equal(reasonOf(() => {}, 137, "SIGKILL"), "signaled");
  assert.equal(reasonOf(({ process }) => process.signal("SIGKILL"), 137, "SIGKILL"), "signaled");
  assert.equal(reasonOf(terminate, 137, "SIGKILL"), "terminated");
  assert.equal(reasonOf(outrun, 137, "SIGKILL"), "timeLimit");
  assert.equal(reasonOf(both, 137, "SIGKILL"), "timeLimit");
  assert.equal(reasonOf((it) => (terminate(it), outrun(it)), 137, "SIGKILL"), "terminated");
  assert.equal(reasonOf(terminate, 0, null), "exited");
  assert.equal(reasonOf(outrun, 143, "SIGTERM"), "signaled");
});

Deno.test("a time limit kills the program when it is over, and neither an exited nor a disposed one", () => {
  const it = stage({ timeLimitMs: 1_000 });
  it.clock.advance(999);
  assert.deepEqual(it.child.calls, []);
  it.clock.advance(1);
  assert.deepEqual(it.child.calls, ["terminate"]);
  for (const end of [({ child }: Stage) => child.exit(0), ({ process }: Stage) => process[Symbol.dispose]()]) {
    const other = stage({ timeLimitMs: 1_000 });
    end(other);
    assert.equal(other.clock.pendingTimers, 0);
  }
  assert.equal(stage().clock.pendingTimers, 0);
});

Deno.test("a held process is not read, whatever the listener says, until both let it go on", () => {
  const it = stage();
  it.process.hold(true);
  assert.equal(it.child.say("a"), false);
  it.process.resume();
  assert.deepEqual(it.child.calls, []);
  it.accept = false;
  assert.equal(it.child.say("b"), false);
  it.process.hold(false);
  assert.deepEqual(it.child.calls, []);
  it.process.resume();
  assert.deepEqual(it.child.calls, ["resume"]);
  it.accept = true;
  it.process.hold(true);
  it.process.hold(true);
  it.process.hold(false);
  it.process.hold(false);
  assert.deepEqual(it.child.calls, ["resume", "resume"]);
  assert.equal(it.child.say("c"), true);
});

Deno.test("after closeStdin new writes are told so, repeated ones are not, and closing again is no other thing", () => {
  const { process, child } = stage();
  const write = (id: string | null) => process.write(new Uint8Array(1), id, never);
  assert.equal(write("a"), "accepted");
  assert.equal(process.closeStdin(), "accepted");
  assert.equal(process.closeStdin(), "accepted");
  assert.deepEqual(child.calls, ["closeStdin"]);
  assert.deepEqual([write("a"), write("b"), write(null)], ["accepted", "stdinClosed", "stdinClosed"]);
  assert.equal(process.summary.hasStdin, false);
  process.terminate();
  assert.equal(write("c"), "stdinClosed");
});

Deno.test("a write that waits for room when stdin is closed is still applied, and its repetition is not", async () => {
  const { process, child } = stage();
  child.full = true;
  const waiting = process.write(new TextEncoder().encode("last"), "a", never);
  const twin = process.write(new TextEncoder().encode("last"), "a", never);
  assert.equal(process.closeStdin(), "accepted");
  child.waiting[0]?.admit();
  assert.deepEqual([await waiting, await twin], ["accepted", "accepted"]);
  assert.deepEqual(child.written, ["last"]);
});

Deno.test("closeStdin has nothing to do where there is no stdin, where the program is gone, and on a terminal", () => {
  assert.equal(stage({ hasStdin: false }).process.closeStdin(), "stdinClosed");
  const gone = stage();
  gone.child.exit(0);
  gone.child.close();
  assert.equal(gone.process.closeStdin(), "accepted");
  assert.deepEqual(gone.child.calls, []);
  const terminal = stage({ tty: true });
  assert.throws(() => terminal.process.closeStdin(), {
    kind: "invalidRequest",
    message: "process p has a terminal, whose input has no end: write its end-of-file character",
  });
  assert.equal(terminal.process.write(new Uint8Array([4]), null, never), "accepted");
});

Deno.test("resize is for terminals", () => {
  const { process, child } = stage({ tty: true });
  process.resize({ rows: 10, columns: 20 });
  assert.deepEqual(child.calls, ["resize 10x20"]);
  assert.throws(() => stage().process.resize({ rows: 10, columns: 20 }), {
    kind: "invalidRequest",
    message: "process p has no terminal",
  });
});

Deno.test("a signal reaches a program that runs, and nobody afterwards", () => {
  const { process, child } = stage();
  assert.equal(process.signal("SIGTERM"), true);
  child.exit(143, "SIGTERM");
  assert.equal(process.signal("SIGKILL"), false);
  assert.deepEqual(child.calls, ["SIGTERM"]);
});
