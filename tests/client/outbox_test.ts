import assert from "node:assert/strict";
import { MAX_UNANSWERED_CLEANUPS, MAX_UNANSWERED_REQUESTS, MAX_WAITING_ANSWERS } from "../../lib/client/limits.ts";
import { Outbox } from "../../lib/client/outbox.ts";
import type { Connection } from "../../lib/rpc/connection.ts";
import { ManualClock } from "../support/manual_clock.ts";
import { RecordedTelemetry } from "../support/recorded_telemetry.ts";
import { idle } from "../support/scripted_server.ts";

/** A connection whose other end reads when the test says so, `room` messages at a time. */
class SlowConnection implements Pick<Connection, "send" | "congested" | "drained"> {
  readonly sent: string[] = [];
  room = 0;
  #waiting: (() => void)[] = [];

  get congested(): boolean {
    return this.room <= 0;
  }

  send(message: string): void {
    this.room--;
    this.sent.push(message);
  }

  drained(): Promise<void> {
    if (!this.congested) return Promise.resolve();
    return new Promise((resolve) => this.#waiting.push(resolve));
  }

  async makeRoom(room: number): Promise<void> {
    this.room = room;
    for (const resolve of this.#waiting.splice(0)) resolve();
    await idle();
  }
}

function setUp() {
  const connection = new SlowConnection();
  const clock = new ManualClock();
  const outbox = new Outbox(connection as unknown as Connection, clock);
  const telemetry = new RecordedTelemetry();
  const send = (text: string) => {
    const span = telemetry.startSpan({ name: text, kind: "client", attributes: {}, parent: undefined });
    return outbox.send({ id: text, method: text, cleanup: false, text, span });
  };
  const cleanUp = (text: string) => outbox.send({ id: text, method: text, cleanup: true, text, span: undefined });
  const enqueued = () => telemetry.spans.flatMap(({ events }) => events.map(({ fields }) => fields));
  return { connection, clock, outbox, send, cleanUp, enqueued };
}

Deno.test("Outbox sends at once while the other side reads", () => {
  const { connection, send } = setUp();
  connection.room = 2;
  send("a");
  send("b");
  assert.deepEqual(connection.sent, ["a", "b"]);
});

Deno.test("Outbox keeps the order while the other side does not read, and tells how long it took", async () => {
  const { connection, clock, send, enqueued } = setUp();
  for (const text of ["a", "b", "c"]) send(text);
  clock.advance(20);
  await connection.makeRoom(2);
  assert.deepEqual(connection.sent, ["a", "b"]);
  send("d");
  await connection.makeRoom(5);
  assert.deepEqual(connection.sent, ["a", "b", "c", "d"]);
  send("e");
  assert.deepEqual(connection.sent, ["a", "b", "c", "d", "e"]);
  assert.deepEqual(enqueued().map((fields) => [fields["enqueue_wait_ms"], fields["outgoing_queue_depth"]]), [
    [20, 2],
    [20, 1],
    [20, 1],
    [0, 0],
    [0, 0],
  ]);
});

Deno.test("Outbox does not send what was withdrawn, nor anything after the end", async () => {
  const { connection, outbox, send } = setUp();
  const withdraw = send("given up");
  const withdrawLater = send("kept");
  withdraw();
  await connection.makeRoom(1);
  withdrawLater();
  assert.deepEqual(connection.sent, ["kept"]);
  send("too late");
  outbox.drop();
  await connection.makeRoom(5);
  assert.deepEqual(connection.sent, ["kept"]);
});

Deno.test("Outbox keeps answers in line with requests, and no more than there is room for", async () => {
  const { connection, outbox, send } = setUp();
  send("request");
  for (let i = 0; i < MAX_WAITING_ANSWERS; i++) assert.equal(outbox.answer(`answer ${i}`), true);
  assert.equal(outbox.answer("one too many"), false);
  send("another request");
  await connection.makeRoom(2);
  assert.deepEqual(connection.sent, ["request", "answer 0"]);
  assert.equal(outbox.answer("there is room again"), true);
  await connection.makeRoom(Infinity);
  assert.deepEqual(connection.sent.slice(-3), [
    `answer ${MAX_WAITING_ANSWERS - 1}`,
    "another request",
    "there is room again",
  ]);
  for (let i = 0; i < 2 * MAX_WAITING_ANSWERS; i++) assert.equal(outbox.answer("at once"), true);
});

Deno.test("Outbox has no more than 120 requests unanswered, and eight more that clean up", async () => {
  const { connection, outbox, send, cleanUp } = setUp();
  connection.room = Infinity;
  for (let i = 0; i < MAX_UNANSWERED_REQUESTS + 2; i++) send(`${i}`);
  const withdraw = send("given up");
  assert.equal(connection.sent.length, MAX_UNANSWERED_REQUESTS);
  for (let i = MAX_UNANSWERED_REQUESTS; i <= MAX_UNANSWERED_CLEANUPS; i++) cleanUp(`cleanup ${i}`);
  assert.equal(outbox.answer("an answer"), true);
  assert.equal(connection.sent.length, MAX_UNANSWERED_CLEANUPS + 1);
  withdraw();
  outbox.answered("unknown");
  outbox.answered("0");
  outbox.answered("0");
  await idle();
  assert.equal(connection.sent.at(-1), `cleanup ${MAX_UNANSWERED_CLEANUPS}`);
  for (let i = 1; i < MAX_UNANSWERED_REQUESTS; i++) outbox.answered(`${i}`);
  await idle();
  assert.deepEqual(connection.sent.slice(-2), [`${MAX_UNANSWERED_REQUESTS}`, `${MAX_UNANSWERED_REQUESTS + 1}`]);
  outbox.answered("cleanup 120");
  await idle();
  for (let i = 0; i < MAX_UNANSWERED_REQUESTS; i++) send("again");
  outbox.drop();
  send("after the end");
});

Deno.test("Outbox sends what waits for room as soon as there is some, though others wait for answers", async () => {
  const { connection, outbox, send, cleanUp } = setUp();
  connection.room = MAX_UNANSWERED_REQUESTS + 1;
  for (let i = 0; i <= MAX_UNANSWERED_REQUESTS; i++) send(`${i}`);
  await idle();
  connection.room = 0;
  assert.equal(outbox.answer("an answer"), true);
  cleanUp("a cleanup");
  await connection.makeRoom(5);
  assert.deepEqual(connection.sent.slice(MAX_UNANSWERED_REQUESTS), ["an answer", "a cleanup"]);
  outbox.drop();
});

Deno.test("Outbox waits for no answers once the server is known to read on", async () => {
  const { connection, outbox, send } = setUp();
  connection.room = Infinity;
  for (let i = 0; i < MAX_UNANSWERED_REQUESTS + 2; i++) send(`${i}`);
  assert.equal(connection.sent.length, MAX_UNANSWERED_REQUESTS);
  outbox.lift();
  await idle();
  send("one more");
  assert.deepEqual(connection.sent.slice(MAX_UNANSWERED_REQUESTS), ["120", "121", "one more"]);
});
