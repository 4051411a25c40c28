import assert from "node:assert/strict";
import { silentLog } from "../../lib/log.ts";
import { waitingClock } from "../../lib/clock.ts";
import { forwardDestination, type ForwardedStream, Forwarder, type ForwarderOptions } from "../../lib/relay/forward.ts";
import { FORWARD_CONNECT_TIMEOUT_MS } from "../../lib/relay/limits.ts";
import type { ConnectionEnd, Message, Receiver } from "../../lib/rpc/connection.ts";
import { createLog } from "../../lib/log.ts";
import { ManualClock } from "../support/manual_clock.ts";
import { inTime } from "../program/eventually.ts";
import { Changes } from "./support/changes.ts";
import { Destination } from "./support/destination.ts";

/** A stream under the test's thumb. */
class FakeStream implements ForwardedStream {
  readonly sent: Message[] = [];
  congested = false;
  closedWith: string | undefined;
  readonly changes = new Changes();
  #receiver: Receiver | undefined;
  #drained = Promise.withResolvers<void>();

  start(receiver: Receiver): void {
    this.#receiver = receiver;
  }
  sendBytes(message: Message): void {
    this.sent.push(message);
    this.changes.notify();
  }
  drained(): Promise<void> {
    return this.#drained.promise;
  }
  drain(): void {
    this.congested = false;
    this.#drained.resolve();
  }
  close(_code?: number, reason = ""): void {
    if (this.closedWith !== undefined) return;
    this.closedWith = reason;
    this.end({ reason });
  }
  receive(text: string | Uint8Array<ArrayBuffer>): void | Promise<void> {
    return this.#receiver!.message(typeof text === "string" ? new TextEncoder().encode(text) : text);
  }
  end(end: ConnectionEnd): void {
    this.#receiver!.ended(end);
    this.changes.notify();
  }
  closed(): Promise<string> {
    return this.changes.until("the stream's end", () => this.closedWith);
  }
  /** What came from the destination, as texts. */
  get texts(): string[] {
    return this.sent.map((message) => new TextDecoder().decode(message as Uint8Array));
  }
}

function forwarder(url: string, options: Partial<ForwarderOptions> = {}): Forwarder {
  return new Forwarder({ url: forwardDestination(url), clock: waitingClock, log: silentLog, ...options });
}

/** A stream that is joined to a destination. */
async function joined(destination: Destination, forwarder: Forwarder) {
  const stream = new FakeStream();
  forwarder.open(stream);
  return { stream, arrival: await destination.arrived(destination.arrivals.length + 1) };
}

Deno.test("forwardDestination takes WebSocket URLs with a host and nothing else, in the reference's words", () => {
  const prefix = "failed to configure exec-server websocket: ";
  for (
    const [url, why] of [
      ["http://127.0.0.1:1", "forward destination must be a ws:// or wss:// URL"],
      ["unix:///tmp/x", "forward destination must be a ws:// or wss:// URL"],
      ["nope", "relative URL without a base"],
      ["", "relative URL without a base"],
      ["ws://", "empty host"],
    ] as const
  ) assert.throws(() => forwardDestination(url), { message: prefix + why });
  assert.equal(forwardDestination(" WS://Host:1/a?b=c "), "ws://host:1/a?b=c");
  assert.equal(forwardDestination("wss://host"), "wss://host/");
});

Deno.test("each stream has a WebSocket of its own to the destination, with its path and query and no further headers", async () => {
  await using destination = new Destination();
  await using forward = forwarder(`${destination.url}/path/?token=t%20x`);
  const first = await joined(destination, forward);
  const second = await joined(destination, forward);
  for (const { upgrade: { target, headers } } of [first.arrival, second.arrival]) {
    assert.equal(target, "/path/?token=t%20x");
    const names = ["connection", "host", "sec-websocket-key", "sec-websocket-version", "upgrade"];
    assert.deepEqual(Object.keys(headers).sort(), names);
  }
  first.stream.receive("of the first");
  second.stream.receive("of the second");
  await destination.until("both", () => first.arrival.binary.length + second.arrival.binary.length === 2);
  assert.deepEqual(first.arrival.binary, [new TextEncoder().encode("of the first")]);
  assert.deepEqual(second.arrival.binary, [new TextEncoder().encode("of the second")]);
});

Deno.test("messages go to the destination as binary ones, unread, in order, also those that came before it was there", async () => {
  await using destination = new Destination();
  await using forward = forwarder(destination.url);
  const stream = new FakeStream();
  forward.open(stream);
  const pause = stream.receive("no JSON: \0\xff");
  assert.ok(pause instanceof Promise, "nothing more is handed over until there is a connection");
  await pause;
  const { binary, texts } = await destination.arrived();
  const large = crypto.getRandomValues(new Uint8Array(65_536));
  const whole = new Uint8Array(9 * 1024 * 1024);
  for (let at = 0; at < whole.length; at += large.length) whole.set(large, at);
  await stream.receive(whole);
  stream.receive(new Uint8Array([1]));
  await destination.until("all of it", () => binary.length === 3);
  assert.deepEqual(binary[0], new TextEncoder().encode("no JSON: \0\xff"));
  assert.ok(same(binary[1]!, whole));
  assert.deepEqual([binary[2], texts], [new Uint8Array([1]), []]);
});

Deno.test("texts and binary messages of the destination come back as bytes, and pings are answered and not passed on", async () => {
  await using destination = new Destination();
  await using forward = forwarder(destination.url);
  const { stream, arrival: { socket } } = await joined(destination, forward);
  socket.sendText("text ü");
  socket.ping();
  socket.send(new Uint8Array([0, 255]));
  socket.sendFragments(new TextEncoder().encode("in pieces"), 3, 4);
  await stream.changes.until("all of it", () => stream.sent.length === 3);
  assert.deepEqual(stream.sent, [
    new TextEncoder().encode("text ü"),
    new Uint8Array([0, 255]),
    new TextEncoder().encode("in pieces"),
  ]);
  stream.receive("after the pong");
  await destination.until("it", () => destination.arrivals[0]!.binary.length === 1);
  assert.equal(socket.pongs, 1);
});

for (const [how, end] of [["closes", "close"], ["dies", "cut"]] as const) {
  Deno.test(`what came before the destination ${how} is delivered, then the stream ends`, async () => {
    await using destination = new Destination();
    await using forward = forwarder(destination.url);
    const { stream, arrival: { socket } } = await joined(destination, forward);
    stream.congested = true;
    for (const text of ["one", "two", "three"]) socket.sendText(text);
    await stream.changes.until("the first", () => stream.sent.length > 0);
    if (end === "close") socket.close();
    else await drainedThenCut(socket);
    stream.drain();
    await inTime("the end", stream.closed());
    assert.deepEqual(stream.texts, ["one", "two", "three"]);
    await inTime("the socket's end", socket.ended);
    if (end === "close") assert.equal(socket.closeCode, 1000, "the close is answered");
  });
}

/** Ends the connection when everything that was sent has left. */
async function drainedThenCut(socket: { drainedTo(bytes: number): Promise<void>; cut(): void }): Promise<void> {
  await socket.drainedTo(0);
  socket.cut();
}

Deno.test("an empty message of the destination ends the stream, after what came before", async () => {
  await using destination = new Destination();
  await using forward = forwarder(destination.url);
  const { stream, arrival: { socket } } = await joined(destination, forward);
  socket.sendText("one");
  socket.sendText("");
  socket.sendText("two");
  assert.equal(await inTime("the end", stream.closed()), "empty message from the destination");
  assert.deepEqual(stream.texts, ["one"]);
  await inTime("the socket's end", socket.ended);
});

Deno.test("the destination's connection is dropped without a close frame when the stream has ended", async () => {
  await using destination = new Destination();
  await using forward = forwarder(destination.url);
  const { stream, arrival: { socket } } = await joined(destination, forward);
  stream.end({ reason: "reset by the peer" });
  await inTime("the socket's end", socket.ended);
  assert.equal(socket.closeCode, null);
});

Deno.test("a stream ends when its destination cannot be reached or refuses, and other streams do not", async () => {
  await using refusing = new Destination({ status: 403 });
  const lines: string[] = [];
  await using forward = forwarder(refusing.url, { log: createLog("info", (line) => lines.push(line)) });
  const [first, second] = [new FakeStream(), new FakeStream()];
  forward.open(first);
  await inTime("the end", first.closed());
  forward.open(second);
  await inTime("the end", second.closed());
  assert.equal(lines.filter((line) => line.includes("no connection to the destination stream=")).length, 2);
  assert.ok(lines.some((line) => line.includes('why="upgrade refused with status 403"')), lines.join(""));

  const port = ((listener) => {
    listener.close();
    return listener.addr.port;
  })(Deno.listen({ hostname: "127.0.0.1", port: 0 }));
  await using nowhere = forwarder(`ws://127.0.0.1:${port}`);
  const third = new FakeStream();
  nowhere.open(third);
  await inTime("the end", third.closed());
});

Deno.test("a destination has ten seconds to answer the upgrade", async () => {
  await using destination = new Destination({ hangs: true });
  const clock = new ManualClock();
  await using forward = forwarder(destination.url, { clock });
  const stream = new FakeStream();
  forward.open(stream);
  const passed = stream.receive("first");
  await destination.until("the upgrade", () => destination.upgrades.length === 1);
  clock.advance(FORWARD_CONNECT_TIMEOUT_MS - 1);
  assert.equal(stream.closedWith, undefined);
  clock.advance(1);
  await inTime("the end", stream.closed());
  await passed;
  assert.equal(clock.pendingTimers, 0);
});

Deno.test("a stream that ends meanwhile gives up the connection to the destination", async () => {
  await using destination = new Destination({ hangs: true });
  const clock = new ManualClock();
  const forward = forwarder(destination.url, { clock });
  const stream = new FakeStream();
  forward.open(stream);
  await destination.until("the upgrade", () => destination.upgrades.length === 1);
  stream.end({ reason: "reset by the peer" });
  await inTime("everything to be gone", forward[Symbol.asyncDispose]());
  assert.equal(clock.pendingTimers, 0);
});

Deno.test("leaving the forwarder's scope drops every connection, also one that is just made", async () => {
  await using destination = new Destination();
  await using hanging = new Destination({ hangs: true });
  const forward = forwarder(destination.url);
  const { stream, arrival: { socket } } = await joined(destination, forward);
  const other = forwarder(hanging.url);
  const waiting = new FakeStream();
  other.open(waiting);
  await hanging.until("the upgrade", () => hanging.upgrades.length === 1);
  await inTime("the end", Promise.all([forward[Symbol.asyncDispose](), other[Symbol.asyncDispose]()]));
  await inTime("the socket's end", socket.ended);
  assert.equal(socket.closeCode, null);
  assert.ok(stream.closedWith !== undefined && waiting.closedWith !== undefined);
});

Deno.test("a destination that does not read stops its stream, and one whose stream is full is not read", async () => {
  await using destination = new Destination();
  await using forward = forwarder(destination.url);
  const { stream, arrival: { socket, binary } } = await joined(destination, forward);
  socket.stopReading();
  const piece = new Uint8Array(1024 * 1024);
  let pause: void | Promise<void>;
  let count = 0;
  do pause = stream.receive(piece); while (pause === undefined && ++count < 200);
  assert.ok(pause instanceof Promise);
  socket.readAgain();
  await inTime("room", pause);
  await destination.until("all of it", () => binary.length === count + 1);

  stream.congested = true;
  for (let i = 0; i < 100; i++) socket.send(piece);
  await stream.changes.until("the first", () => stream.sent.length === 1);
  assert.ok(socket.backlogBytes > 0);
  stream.drain();
  await stream.changes.until("all of it", () => stream.sent.length === 100);
});

/** assert.deepEqual takes seconds for megabytes. */
function same(left: Uint8Array, right: Uint8Array): boolean {
  return left.length === right.length && left.every((byte, index) => byte === right[index]);
}
