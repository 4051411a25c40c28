import assert from "node:assert/strict";
import { silentLog } from "../../lib/log.ts";
import type { Child, ChildEvents, LaunchSpec, ProcessBackend } from "../../lib/process/child.ts";
import type { Connection } from "../../lib/rpc/connection.ts";
import { Crowd } from "../../lib/server/crowd.ts";
import { DETACHED_SESSION_LIFETIME_MS, Sessions } from "../../lib/server/sessions.ts";
import { ManualClock } from "../support/manual_clock.ts";

/** Launches nothing and remembers what it was asked. */
class FakeBackend implements ProcessBackend {
  readonly name = "fake";
  readonly children: FakeChild[] = [];
  launch(_spec: LaunchSpec, events: ChildEvents): Child {
    const child = new FakeChild(events);
    this.children.push(child);
    return child;
  }
  launchConfined(): Promise<Child> {
    return assert.fail("nothing is confined here");
  }
}
class FakeChild implements Child {
  readonly pid = 12345;
  killed = false;
  resumed = 0;
  constructor(readonly events: ChildEvents) {}
  write(): undefined {}
  closeStdin(): void {}
  resize(): void {}
  resume(): void {
    this.resumed++;
  }
  signal(): boolean {
    return true;
  }
  terminate(): void {}
  killGroup(): void {
    this.killed = true;
  }
  [Symbol.dispose](): void {
    this.killed = true;
  }
}

class FakeConnection implements Connection {
  readonly label = "fake";
  readonly malformedPrefix = "";
  readonly sent: { method: string; params: Record<string, unknown> }[] = [];
  sharing = false;
  congested = false;
  #drained = Promise.withResolvers<void>();
  start(): void {}
  send(message: string): void {
    this.sent.push(JSON.parse(message));
  }
  drained(): Promise<void> {
    return this.#drained.promise;
  }
  drain(): void {
    this.congested = false;
    this.#drained.resolve();
  }
  close(): void {}
}

const MAX_DETACHED_MS = 86_400_000;

function fixture(maxDetachedMs = MAX_DETACHED_MS) {
  const clock = new ManualClock();
  const backend = new FakeBackend();
  const sessions = new Sessions({ backend, clock, log: silentLog, observer: {}, crowd, maxDetachedMs });
  return { clock, backend, sessions };
}
const spec = {
  processId: "p",
  argv: ["x"],
  arg0: null,
  cwd: new TextEncoder().encode("/"),
  env: new Map<string, string>(),
  tty: false,
  pipeStdin: false,
};
const crowd = new Crowd({ now: () => 0, after: () => ({ cancel() {} }) });
const bytes = new TextEncoder().encode("hi");

Deno.test("Sessions hands a detached session to the next connection, and its events with it", () => {
  const { sessions, backend } = fixture();
  const [a, b] = [new FakeConnection(), new FakeConnection()];
  const session = sessions.create(a);
  session.processes.start(spec);
  const { events } = backend.children[0]!;
  events.output("stdout", bytes);
  sessions.detach(session);
  events.output("stdout", bytes);
  assert.equal(sessions.resume(session.id, b), session);
  events.exited(0, null);
  assert.deepEqual(a.sent.map(({ params }) => params["seq"]), [1]);
  assert.deepEqual(b.sent.map(({ method, params }) => [method, params["seq"]]), [["process/exited", 3]]);
  sessions[Symbol.dispose]();
});

Deno.test("Sessions refuses a session that another connection holds, and an id that it never gave", () => {
  const { sessions } = fixture();
  const session = sessions.create(new FakeConnection());
  assert.throws(() => sessions.resume(session.id, new FakeConnection()), {
    kind: "sessionAttached",
    message: `session ${session.id} is already attached to another connection`,
  });
  assert.throws(() => sessions.resume("nope", new FakeConnection()), {
    kind: "invalidRequest",
    message: "unknown session id nope",
  });
  sessions[Symbol.dispose]();
});

Deno.test("Sessions ends a detached session and its processes after its lifetime", () => {
  const { sessions, backend, clock } = fixture();
  const session = sessions.create(new FakeConnection());
  session.processes.start(spec);
  sessions.detach(session);
  clock.advance(DETACHED_SESSION_LIFETIME_MS - 1);
  assert.equal(backend.children[0]!.killed, false);
  assert.equal(sessions.size, 1);
  clock.advance(1);
  assert.equal(backend.children[0]!.killed, true);
  assert.equal(sessions.size, 0);
});

Deno.test("Sessions decides by the clock, not by its timer, whether a session has expired", () => {
  const { backend } = fixture();
  let now = 0;
  const lateTimers = { now: () => now, after: () => ({ cancel() {} }) };
  const sessions = new Sessions({
    backend,
    clock: lateTimers,
    log: silentLog,
    observer: {},
    crowd,
    maxDetachedMs: MAX_DETACHED_MS,
  });
  const session = sessions.create(new FakeConnection());
  session.processes.start(spec);
  sessions.detach(session);
  now = DETACHED_SESSION_LIFETIME_MS;
  assert.throws(() => sessions.resume(session.id, new FakeConnection()), { kind: "invalidRequest" });
  assert.equal(backend.children[0]!.killed, true);
  sessions[Symbol.dispose]();
});

Deno.test("Sessions gives every detachment a new lifetime", () => {
  const { sessions, clock } = fixture();
  const session = sessions.create(new FakeConnection());
  sessions.detach(session);
  clock.advance(DETACHED_SESSION_LIFETIME_MS - 1);
  sessions.resume(session.id, new FakeConnection());
  clock.advance(DETACHED_SESSION_LIFETIME_MS);
  assert.equal(sessions.size, 1);
  sessions.detach(session);
  clock.advance(DETACHED_SESSION_LIFETIME_MS - 1);
  assert.equal(sessions.size, 1);
  clock.advance(1);
  assert.equal(sessions.size, 0);
});

Deno.test("a lease keeps a session for longer without a connection, again after each, up to what the server allows", () => {
  const { sessions, clock, backend } = fixture();
  const session = sessions.create(new FakeConnection());
  session.processes.start(spec);
  assert.equal(sessions.lease(session, 3_600_000), 3_600_000);
  for (let times = 0; times < 2; times++) {
    sessions.detach(session);
    clock.advance(3_599_999);
    assert.equal(sessions.resume(session.id, new FakeConnection()), session);
    clock.advance(10 * 3_600_000);
  }
  assert.equal(sessions.lease(session, 1e15), MAX_DETACHED_MS);
  sessions.detach(session);
  clock.advance(MAX_DETACHED_MS - 1);
  assert.equal(backend.children[0]!.killed, false);
  clock.advance(1);
  assert.equal(backend.children[0]!.killed, true);
  assert.equal(sessions.size, 0);
});

Deno.test("no lease makes a session live shorter than usual, and 0 takes a lease back", () => {
  for (const durations of [[1], [3_600_000, 0]]) {
    const { sessions, clock } = fixture();
    const session = sessions.create(new FakeConnection());
    for (const duration of durations) assert.equal(sessions.lease(session, duration), duration);
    sessions.detach(session);
    clock.advance(DETACHED_SESSION_LIFETIME_MS - 1);
    assert.equal(sessions.size, 1);
    clock.advance(1);
    assert.equal(sessions.size, 0);
  }
});

Deno.test("a lease of more than the longest timer of the platform ends at its time", () => {
  const { sessions, clock } = fixture(366 * 86_400_000);
  const session = sessions.create(new FakeConnection());
  assert.equal(sessions.lease(session, 1e15), 366 * 86_400_000);
  sessions.detach(session);
  clock.advance(366 * 86_400_000 - 1);
  assert.equal(sessions.size, 1);
  clock.advance(1);
  assert.equal(sessions.size, 0);
  assert.equal(clock.pendingTimers, 0);
});

Deno.test("a lease keeps closed processes readable as well", () => {
  const { sessions, clock, backend } = fixture();
  const session = sessions.create(new FakeConnection());
  session.processes.start(spec);
  sessions.lease(session, 3_600_000);
  sessions.detach(session);
  const { events } = backend.children[0]!;
  events.output("stdout", bytes);
  events.exited(0, null);
  events.closed();
  clock.advance(3_599_999);
  sessions.resume(session.id, new FakeConnection());
  const query = { processId: "p", afterSeq: 0, maxBytes: null, waitMs: 0 };
  const read = () => session.processes.read(query, new AbortController().signal);
  assert.ok(read());
  clock.advance(1);
  assert.throws(read, { message: "unknown process id p" });
  sessions[Symbol.dispose]();
});

Deno.test("a detached session holds no program any more", () => {
  const { sessions, backend } = fixture();
  const session = sessions.create(new FakeConnection());
  session.processes.start(spec);
  const child = backend.children[0]!;
  session.processes.get("p").hold(true);
  assert.equal(child.events.output("stdout", bytes), false);
  sessions.detach(session);
  assert.equal(child.resumed, 1);
  assert.equal(child.events.output("stdout", bytes), true);
  sessions.resume(session.id, new FakeConnection());
  assert.equal(child.events.output("stdout", bytes), true);
  sessions[Symbol.dispose]();
});

Deno.test("a held program waits on when the connection drains", async () => {
  const { sessions, backend } = fixture();
  const connection = new FakeConnection();
  const session = sessions.create(connection);
  session.processes.start(spec);
  const child = backend.children[0]!;
  session.processes.get("p").hold(true);
  connection.congested = true;
  assert.equal(child.events.output("stdout", bytes), false);
  connection.drain();
  await Promise.resolve();
  await Promise.resolve();
  assert.equal(child.resumed, 0);
  session.processes.get("p").hold(false);
  assert.equal(child.resumed, 1);
  sessions[Symbol.dispose]();
});

Deno.test("Session stops reading a program while its connection is full, and reads on when it drains or is lost", async () => {
  const { sessions, backend } = fixture();
  const connection = new FakeConnection();
  const session = sessions.create(connection);
  session.processes.start(spec);
  const child = backend.children[0]!;
  assert.equal(child.events.output("stdout", bytes), true);
  connection.congested = true;
  assert.equal(child.events.output("stdout", bytes), false);
  connection.drain();
  await Promise.resolve();
  await Promise.resolve();
  assert.equal(child.resumed, 1);
  connection.congested = true;
  assert.equal(child.events.output("stdout", bytes), false);
  sessions.detach(session);
  assert.equal(child.resumed, 2);
  assert.equal(child.events.output("stdout", bytes), true);
  sessions[Symbol.dispose]();
});
