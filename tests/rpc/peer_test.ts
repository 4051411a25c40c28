import assert from "node:assert/strict";
import { ExecError } from "../../lib/errors.ts";
import { createLog } from "../../lib/log.ts";
import type { Observer } from "../../lib/observer.ts";
import type { Connection, ConnectionEnd, Message, Receiver } from "../../lib/rpc/connection.ts";
import { MAX_UNANSWERED_BYTES } from "../../lib/rpc/input_budget.ts";
import { Peer } from "../../lib/rpc/peer.ts";
import { type Lane, type PeerHandler, ProtocolViolation, type RequestScope } from "../../lib/rpc/peer_handler.ts";

/** A carrier under the test's thumb: what the peer sent, and a switch for congestion. */
class FakeConnection implements Connection {
  readonly label = "fake";
  readonly malformedPrefix = "bad: ";
  readonly sent: unknown[] = [];
  readonly closedWith: (number | undefined)[] = [];
  endsAtMalformed?: boolean;
  maxWaitingMessages?: number;
  sharing = false;
  congested = false;
  #drained = Promise.withResolvers<void>();
  #receiver!: Receiver;

  start(receiver: Receiver): void {
    this.#receiver = receiver;
  }
  send(message: string): void {
    this.sent.push(JSON.parse(message));
  }
  drained(): Promise<void> {
    return this.congested ? this.#drained.promise : Promise.resolve();
  }
  drain(): void {
    this.congested = false;
    this.#drained.resolve();
    this.#drained = Promise.withResolvers<void>();
  }
  close(code?: number, reason?: string): void {
    this.closedWith.push(code);
    this.#receiver.ended({ reason: reason ?? "closed" });
  }
  receive(message: Message | object): void | Promise<void> {
    return this.#receiver.message(
      typeof message === "string" || message instanceof Uint8Array ? message : JSON.stringify(message),
    );
  }
  inputEnded(): Promise<void> | undefined {
    return this.#receiver.inputEnded?.();
  }
  lose(end: ConnectionEnd = { reason: "lost" }): void {
    this.#receiver.ended(end);
  }
}

/** Answers `now` at once, `later` when told, `boom` with a fault of its own, `refuse` with an error. */
class FakeHandler implements PeerHandler {
  concurrent = true;
  readonly started: string[] = [];
  readonly notified: string[] = [];
  readonly signals: AbortSignal[] = [];
  readonly waiting = new Map<string, PromiseWithResolvers<string>>();

  request(method: string, params: unknown, { signal }: RequestScope): string | Promise<string> {
    this.started.push(`${method} ${params}`);
    this.signals.push(signal);
    if (method === "boom") throw new Error("secret detail");
    if (method === "refuse") throw new ExecError("spawnNotFound", "No such file");
    if (method !== "later" && method !== "control" && method !== "close") return '"done"';
    const gate = Promise.withResolvers<string>();
    this.waiting.set(String(params), gate);
    return gate.promise;
  }
  notification(method: string): void {
    if (method === "fault") throw new TypeError("a fault of ours");
    if (method !== "initialized") throw new ProtocolViolation("unexpected notification");
    this.notified.push(method);
  }
  lane(method: string, waiting: (isMeant: (method: string) => boolean) => boolean): Lane {
    if (method === "close") return waiting((other) => other === "later") ? "ordinary" : "control";
    return method === "control" ? "control" : method === "unknown" ? "immediate" : "ordinary";
  }
  finish(name: string): void {
    this.waiting.get(name)!.resolve(`"${name}"`);
  }
}

/** Time stands still, or goes as the test says: a slow machine must not decide when others get a turn. */
function conversation(
  options: { concurrency?: number; strictResponses?: boolean; observer?: Observer; now?: () => number } = {},
) {
  const connection = new FakeConnection();
  const handler = new FakeHandler();
  const lines: string[] = [];
  const ends: ConnectionEnd[] = [];
  const peer = new Peer({
    connection,
    transport: "websocket",
    handler,
    log: createLog("debug", (line) => lines.push(line)),
    observer: options.observer ?? {},
    concurrency: options.concurrency ?? 1,
    strictResponses: options.strictResponses ?? true,
    now: options.now ?? (() => 0),
    ended: (end) => ends.push(end),
  });
  return { connection, handler, peer, lines, ends };
}

/** Lets promises settle that wait for no event, and no timer fire. */
async function promisesSettled(): Promise<void> {
  for (let links = 0; links < 100; links++) await null;
}

/** Lets everything that is ready to run do so. */
const settled = () => new Promise<void>((resolve) => setTimeout(resolve, 0));

Deno.test("Peer answers a request that needs no waiting in the same turn", () => {
  const { connection } = conversation();
  connection.receive({ id: 1, method: "now" });
  assert.deepEqual(connection.sent, [{ id: 1, result: "done" }]);
});

Deno.test("Peer echoes ids as they came, beyond 2^53 and of both kinds", () => {
  const { connection } = conversation();
  const sent: string[] = [];
  connection.send = (text: string) => void sent.push(text);
  connection.receive('{"id":9223372036854775807,"method":"now"}');
  connection.receive('{"id":-9223372036854775808,"method":"now"}');
  connection.receive('{"id":"\\u0061\\"\\n","method":"now"}');
  connection.receive('{"id":"","method":"now"}');
  assert.deepEqual(sent, [
    '{"id":9223372036854775807,"result":"done"}',
    '{"id":-9223372036854775808,"result":"done"}',
    '{"id":"a\\"\\n","result":"done"}',
    '{"id":"","result":"done"}',
  ]);
});

Deno.test("Peer lets others have a turn after more than five milliseconds of answering", async () => {
  let now = 0;
  const { connection, handler } = conversation({ now: () => now });
  connection.receive({ id: 0, method: "later", params: "a" });
  for (const id of [1, 2, 3]) connection.receive({ id, method: "now" });
  handler.request = () => {
    now += 3;
    return '"slow"';
  };
  handler.finish("a");
  await promisesSettled();
  const ids = () => (connection.sent as { id: number }[]).map(({ id }) => id);
  assert.deepEqual(ids(), [0, 1, 2]);
  await settled();
  assert.deepEqual(ids(), [0, 1, 2, 3]);
});

Deno.test("Peer reads binary messages as UTF-8 JSON", () => {
  const { connection } = conversation();
  connection.receive(new TextEncoder().encode('{"id":1,"method":"now"}'));
  assert.deepEqual(connection.sent, [{ id: 1, result: "done" }]);
});

Deno.test("Peer answers what it cannot decode under the id -1 and goes on", () => {
  const { connection } = conversation();
  connection.receive("[]");
  connection.receive({ id: 2, method: "now" });
  assert.deepEqual(connection.sent, [
    { error: { code: -32600, message: "bad: expected a JSON-RPC object" }, id: -1 },
    { id: 2, result: "done" },
  ]);
});

/** As on the relay. */
function strictConversation(options: Parameters<typeof conversation>[0] = {}) {
  const whole = conversation(options);
  whole.connection.endsAtMalformed = true;
  whole.connection.maxWaitingMessages = 128;
  return whole;
}

Deno.test("Peer ends a connection that asks for it at a message that cannot be decoded, without an answer", () => {
  const { connection, handler } = strictConversation();
  connection.receive({ id: 1, method: "now" });
  connection.receive("[]");
  connection.receive({ id: 2, method: "now" });
  assert.deepEqual(connection.sent, [{ id: 1, result: "done" }]);
  assert.deepEqual(connection.closedWith, [1002]);
  assert.equal(handler.started.length, 1);
});

for (const concurrency of [1, 2]) {
  Deno.test(`Peer does not wait with that for a request in progress, ${concurrency} at once`, async () => {
    const { connection, handler } = strictConversation({ concurrency });
    connection.receive({ id: 1, method: "later", params: "a" });
    connection.receive({ id: 2, method: "later", params: "b" });
    connection.receive(new Uint8Array([0x22, 0xff, 0x22]));
    assert.deepEqual(connection.closedWith, [1002]);
    handler.finish("a");
    await settled();
    assert.deepEqual(connection.sent, []);
  });
}

Deno.test("Peer ends a connection with a limit at the first message too many behind a request in progress", () => {
  const { connection } = strictConversation();
  connection.receive({ id: 1, method: "later", params: "a" });
  for (let id = 2; id <= 129; id++) connection.receive({ id, method: "now" });
  assert.deepEqual(connection.closedWith, []);
  connection.receive({ method: "initialized" });
  assert.deepEqual(connection.closedWith, [1008]);
  assert.deepEqual(connection.sent, []);
});

Deno.test("Peer does not count requests that wait in lanes: the reference lets three hundred of them wait", async () => {
  const { connection, handler } = strictConversation({ concurrency: 2 });
  for (const params of ["a", "b"]) connection.receive({ id: params, method: "later", params });
  for (let id = 0; id < 300; id++) connection.receive({ id, method: "now" });
  assert.deepEqual(connection.closedWith, []);
  handler.finish("a");
  await settled();
  assert.equal(connection.sent.length, 301);
});

Deno.test("Peer does not count what waits only because others have their turn", async () => {
  let now = 0;
  const { connection, handler } = strictConversation({ now: () => now });
  handler.request = () => {
    now += 6;
    return '"slow"';
  };
  for (let id = 1; id <= 200; id++) connection.receive({ id, method: "now" });
  assert.deepEqual([connection.sent.length, connection.closedWith], [1, []]);
  handler.request = () => '"quick"';
  await settled();
  assert.equal(connection.sent.length, 200);
});

Deno.test("Peer counts messages that wait for answers to be read", () => {
  const { connection } = strictConversation();
  connection.congested = true;
  for (let id = 1; id <= 129; id++) connection.receive({ id, method: "now" });
  assert.deepEqual(connection.closedWith, []);
  connection.receive({ id: 130, method: "now" });
  assert.deepEqual(connection.closedWith, [1008]);
});

Deno.test("Peer tells a failure's kind as code and data, and a fault of its own only to the log", () => {
  const { connection, lines } = conversation();
  connection.receive({ id: 1, method: "refuse" });
  connection.receive({ id: 2, method: "boom" });
  assert.deepEqual(connection.sent, [
    { error: { code: -32603, data: { kind: "spawnNotFound" }, message: "No such file" }, id: 1 },
    { error: { code: -32603, message: "internal error" }, id: 2 },
  ]);
  assert.ok(lines.some((line) => line.includes("secret detail")));
});

Deno.test("Peer runs requests one after the other by default, malformed messages and notifications in their turn", async () => {
  const { connection, handler } = conversation();
  connection.receive({ id: 1, method: "later", params: "a" });
  connection.receive({ id: 2, method: "now" });
  connection.receive("nonsense");
  connection.receive({ method: "initialized" });
  connection.receive({ id: 3, method: "control", params: "c" });
  assert.deepEqual(handler.started, ["later a"]);
  assert.deepEqual(handler.notified, []);
  handler.finish("a");
  await settled();
  assert.deepEqual(handler.started, ["later a", "now null", "control c"]);
  assert.deepEqual(handler.notified, ["initialized"]);
  handler.finish("c");
  await settled();
  assert.deepEqual((connection.sent as { id: number }[]).map(({ id }) => id), [1, 2, -1, 3]);
});

Deno.test("Peer lets N requests of each lane run at once and the rest wait in order", async () => {
  const { connection, handler } = conversation({ concurrency: 2 });
  for (const params of ["a", "b", "c", "d"]) connection.receive({ id: params, method: "later", params });
  for (const params of ["x", "y", "z"]) connection.receive({ id: params, method: "control", params });
  connection.receive({ id: "u", method: "unknown" });
  assert.deepEqual(handler.started, ["later a", "later b", "control x", "control y", "unknown null"]);
  assert.deepEqual(connection.sent, [{ id: "u", result: "done" }]);
  handler.finish("b");
  await settled();
  assert.deepEqual(handler.started.slice(5), ["later c"]);
  handler.finish("c");
  handler.finish("x");
  await settled();
  assert.deepEqual(handler.started.slice(6), ["later d", "control z"]);
  for (const name of ["a", "d", "y", "z"]) handler.finish(name);
  await settled();
  assert.equal(connection.sent.length, 8);
});

Deno.test("Peer keeps to one at a time while the handler is not ready for more", async () => {
  const { connection, handler } = conversation({ concurrency: 8 });
  handler.concurrent = false;
  connection.receive({ id: 1, method: "later", params: "a" });
  connection.receive({ id: 2, method: "now" });
  assert.deepEqual(handler.started, ["later a"]);
  handler.finish("a");
  await settled();
  assert.deepEqual(handler.started, ["later a", "now null"]);
});

Deno.test("Peer takes no further request while its answers are not read", async () => {
  const { connection, handler } = conversation();
  connection.congested = true;
  connection.receive({ id: 1, method: "now" });
  connection.receive({ id: 2, method: "now" });
  await settled();
  assert.equal(handler.started.length, 1);
  connection.drain();
  await settled();
  assert.equal(handler.started.length, 2);
});

Deno.test("Peer ends the connection after a violation, once earlier requests are done", async () => {
  const { connection, handler } = conversation();
  connection.receive({ id: 1, method: "later", params: "a" });
  connection.receive({ method: "bogus" });
  connection.receive({ id: 2, method: "now" });
  assert.deepEqual(connection.closedWith, []);
  handler.finish("a");
  await settled();
  assert.deepEqual(connection.closedWith, [1002]);
  assert.deepEqual(handler.started, ["later a"]);
});

Deno.test("Peer acts on a violation at once when requests run concurrently", () => {
  const { connection } = conversation({ concurrency: 2 });
  connection.receive({ id: 1, method: "later", params: "a" });
  connection.receive({ method: "bogus" });
  assert.deepEqual(connection.closedWith, [1002]);
});

Deno.test("Peer loses the connection, not the process, to a fault of its own", () => {
  const { connection, lines } = conversation();
  connection.receive({ method: "fault" });
  assert.deepEqual(connection.closedWith, [1011]);
  assert.ok(lines.some((line) => line.includes("a fault of ours")));
});

Deno.test("Peer answers what came before the end of the input", async () => {
  const { connection, handler } = conversation();
  connection.congested = true;
  for (const id of [1, 2, 3]) connection.receive({ id, method: "now" });
  let settled = 0;
  const settling = connection.inputEnded()!.then(() => settled++);
  await Promise.resolve();
  assert.deepEqual([handler.started.length, settled], [1, 0]);
  connection.drain();
  await settling;
  assert.equal(handler.started.length, 3);
});

for (const concurrency of [1, 2]) {
  Deno.test(`Peer waits for handlers at the end of the input, ${concurrency} at once, but not for ever`, async () => {
    const { connection, handler } = conversation({ concurrency });
    for (const params of ["a", "b", "c"]) connection.receive({ id: params, method: "later", params });
    const settling = connection.inputEnded();
    for (const name of ["a", "b", "c"]) {
      handler.finish(name);
      await settled();
    }
    await settling;
    assert.equal(connection.sent.length, 3);
    connection.receive({ id: 4, method: "later", params: "d" });
    const ended = connection.inputEnded();
    connection.lose();
    handler.finish("d");
    await ended;
  });
}

Deno.test("Peer treats a response to no request as a violation, or ignores it when asked to", () => {
  const strict = conversation();
  strict.connection.receive({ id: 99, result: null });
  assert.deepEqual(strict.connection.closedWith, [1002]);
  const lenient = conversation({ strictResponses: false });
  lenient.connection.receive({ id: 99, error: { code: 1, message: "x" } });
  assert.deepEqual(lenient.connection.closedWith, []);
});

Deno.test("Peer aborts what runs, drops what waits and answers nothing when the connection ends", async () => {
  const outcomes: string[] = [];
  const { connection, handler, peer, ends } = conversation({
    observer: { requestAnswered: ({ outcome }) => void outcomes.push(outcome) },
  });
  connection.receive({ id: 1, method: "later", params: "a" });
  connection.receive({ id: 2, method: "now" });
  connection.lose();
  assert.equal(handler.signals[0]!.aborted, true);
  handler.finish("a");
  await settled();
  assert.deepEqual(connection.sent, []);
  assert.deepEqual(handler.started, ["later a"]);
  assert.deepEqual(outcomes, ["disconnected"]);
  assert.deepEqual(ends, [{ reason: "lost" }]);
  assert.equal(peer.ended, true);
});

Deno.test("Peer tells a handler what waits in the ordinary lane, so that a request can go behind it", async () => {
  const { connection, handler } = conversation({ concurrency: 2 });
  for (const params of ["a", "b"]) connection.receive({ id: params, method: "later", params });
  connection.receive({ id: "early", method: "close", params: "early" });
  connection.receive({ id: "c", method: "later", params: "c" });
  connection.receive({ id: "late", method: "close", params: "late" });
  assert.deepEqual(handler.started, ["later a", "later b", "close early"]);
  handler.finish("a");
  handler.finish("b");
  await settled();
  assert.deepEqual(handler.started.slice(3), ["later c", "close late"]);
  for (const name of ["c", "early", "late"]) handler.finish(name);
  await settled();
});

Deno.test("Peer drops requests that wait in a lane when the connection ends", async () => {
  const { connection, handler } = conversation({ concurrency: 2 });
  for (const params of ["a", "b", "c"]) connection.receive({ id: params, method: "later", params });
  connection.lose();
  handler.finish("a");
  await settled();
  assert.deepEqual(handler.started, ["later a", "later b"]);
});

Deno.test("Peer ends a connection with 1009 when more than 256 MiB of input is unanswered", () => {
  const { connection, lines } = conversation();
  connection.receive({ id: 1, method: "later", params: "a" });
  const big = " ".repeat(MAX_UNANSWERED_BYTES / 4);
  for (let i = 0; i < 3; i++) connection.receive(big);
  assert.deepEqual(connection.closedWith, []);
  connection.receive(big);
  assert.deepEqual(connection.closedWith, [1009]);
  assert.ok(lines.some((line) => line.includes("too much unanswered input")));
});

Deno.test("Peer asks a carrier that can wait to do so, and lets it go on when input is answered", async () => {
  const { connection, handler } = conversation();
  connection.receive({ id: 1, method: "later", params: "a" });
  assert.equal(connection.receive(" ".repeat(1024)), undefined);
  const pause = connection.receive(`{"method":"initialized","params":"${"x".repeat(80 * 1024 * 1024)}"}`);
  assert.ok(pause instanceof Promise);
  handler.finish("a");
  await pause;
  await settled();
});

Deno.test("Peer matches answers to its own requests and fails them when the connection ends", async () => {
  const { connection, peer } = conversation();
  const first = peer.request("ask", { a: 1 });
  const second = peer.request("ask", null);
  const third = peer.request("ask", null);
  assert.deepEqual(connection.sent, [
    { id: 1, method: "ask", params: { a: 1 } },
    { id: 2, method: "ask", params: null },
    { id: 3, method: "ask", params: null },
  ]);
  connection.receive({ id: 2, error: { code: -32004, message: "gone" } });
  connection.receive({ id: 1, result: "yes" });
  assert.equal(await first, "yes");
  await assert.rejects(second, { name: "ExecError", kind: "notFound", message: "gone" });
  connection.lose();
  await assert.rejects(third, { kind: "disconnected" });
  await assert.rejects(peer.request("ask", null), { kind: "disconnected" });
});

Deno.test("Peer forgets a request whose signal is aborted", async () => {
  const { connection, peer } = conversation({ strictResponses: false });
  const aborter = new AbortController();
  const asked = peer.request("ask", null, { signal: aborter.signal });
  aborter.abort(new Error("enough"));
  await assert.rejects(asked, { message: "enough" });
  connection.receive({ id: 1, result: null });
  assert.deepEqual(connection.closedWith, []);
});

Deno.test("Peer tells its observer of every request with its trace, and of both ends of the connection", () => {
  const events: unknown[] = [];
  const observer: Observer = {
    connectionOpened: ({ transport }) => void events.push(["opened", transport]),
    requestReceived: ({ requestNumber, method, trace }) => void events.push(["received", requestNumber, method, trace]),
    requestAnswered: ({ requestNumber, outcome }) => void events.push(["answered", requestNumber, outcome]),
    connectionEnded: ({ reason }) => void events.push(["ended", reason]),
  };
  const { connection } = conversation({ observer });
  const trace = { traceparent: "00-1", tracestate: "a=b" };
  connection.receive({ id: 1, method: "now", trace });
  connection.receive({ id: 1, method: "refuse" });
  connection.lose();
  assert.deepEqual(events, [
    ["opened", "websocket"],
    ["received", 1, "now", trace],
    ["answered", 1, "success"],
    ["received", 2, "refuse", undefined],
    ["answered", 2, "error"],
    ["ended", "lost"],
  ]);
});

Deno.test("Peer counts a message's own cost too, so that empty ones cannot pile up without end", () => {
  const { connection } = conversation();
  connection.receive({ id: 1, method: "later", params: "a" });
  for (let count = 0; count < MAX_UNANSWERED_BYTES / 256 && connection.closedWith.length === 0; count++) {
    void connection.receive("");
  }
  assert.deepEqual(connection.closedWith, [1009]);
});

Deno.test("Peer takes no further message while answers pile up that wait for no lane", async () => {
  const { connection } = conversation({ concurrency: 2 });
  connection.congested = true;
  connection.receive({ id: 1, method: "unknown" });
  connection.receive({ id: 2, method: "unknown" });
  assert.equal(connection.sent.length, 1);
  connection.drain();
  await settled();
  assert.equal(connection.sent.length, 2);
});

Deno.test("Peer loses the connection, not the process, when an answer that had to wait cannot be sent", async () => {
  const { connection, handler, lines } = conversation({ concurrency: 2 });
  for (const name of ["a", "b"]) connection.receive({ id: name, method: "later", params: name });
  connection.send = () => {
    throw new RangeError("Invalid string length");
  };
  handler.finish("a");
  await settled();
  assert.deepEqual(connection.closedWith, [1011]);
  assert.match(lines.join(""), /ERROR message failed unexpectedly .* error="RangeError: Invalid string length/);
});

Deno.test("Peer loses the connection, not the process, when a request fails unexpectedly after its wait in a lane", async () => {
  const { connection, handler } = conversation({ concurrency: 2 });
  for (const name of ["a", "b"]) connection.receive({ id: name, method: "later", params: name });
  connection.receive({ id: "c", method: "refuse" });
  let failures = 0;
  connection.send = (text) => {
    if (!text.includes('"error"')) return;
    failures++;
    throw new RangeError("Invalid string length");
  };
  handler.finish("a");
  await settled();
  assert.equal(failures, 1);
  assert.deepEqual(connection.closedWith, [1011]);
});
