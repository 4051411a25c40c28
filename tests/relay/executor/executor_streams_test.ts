import assert from "node:assert/strict";
import { encodeData, encodeHandshake, encodeReset, encodeResume } from "../../../lib/relay/stream/frame.ts";
import { ExecutorRig } from "../executor_rig.ts";
import { frameWith } from "../support/frame_view.ts";
import vectors from "../vectors/frames.json" with { type: "json" };

const RECORD = new Uint8Array(40);

Deno.test("a harness that the registry confirms gets message 2 first, and then has a stream both ways", async () => {
  await using rig = new ExecutorRig();
  const harness = await rig.harness("s");
  harness.greet();
  const { answer } = await rig.question(0);
  assert.deepEqual(rig.sent, []);
  assert.equal(rig.streams.active, 0);
  answer("valid");
  const [frame] = await rig.socket.frames(1);
  assert(frame?.kind === "handshake");
  assert.equal(frame.payload.length, 3424);
  assert.equal((await harness.finish(frame)).length, 0);
  assert.equal(rig.streams.active, 1);
  harness.send("hello");
  assert.equal(await rig.message(0, 0), "hello");
  rig.opened[0]!.stream.send("good day");
  const [, data] = await rig.socket.frames(2);
  assert.equal(harness.read(data), "good day");
  assert.deepEqual(rig.refusals, []);
});

for (const { name, hex, verdict } of vectors.frames.filter(({ verdict }) => !verdict.startsWith("valid"))) {
  Deno.test(`the recorded frame "${name}" is dropped: ${verdict}`, async () => {
    await using rig = new ExecutorRig();
    const harness = await rig.open("5f0c7a52-6d0e-4c4e-9d53-0a4b1f2c3d4e");
    rig.socket.deliver(Uint8Array.fromHex(hex));
    harness.send("still here");
    assert.equal(await rig.message(0, 0), "still here");
    assert.equal(rig.sent.length, 1);
    assert.deepEqual(rig.refusals, []);
  });
}

Deno.test("text messages are dropped", async () => {
  await using rig = new ExecutorRig();
  const harness = await rig.open("s");
  rig.socket.deliverText();
  harness.send("still here");
  assert.equal(await rig.message(0, 0), "still here");
  assert.deepEqual(rig.sent, ["handshake s"]);
});

Deno.test("data for a stream that does not exist is answered by a reset each time, which costs nothing", async () => {
  await using rig = new ExecutorRig();
  for (let i = 0; i < 20; i++) rig.socket.deliver(encodeData("nobody", i, RECORD));
  assert.deepEqual(rig.sent, Array(20).fill("reset nobody"));
  assert.deepEqual(rig.pauses, []);
  await rig.open("s");
});

Deno.test("control frames for a stream that does not exist are answered by nothing", async () => {
  await using rig = new ExecutorRig();
  rig.socket.deliver(encodeReset("nobody"));
  rig.socket.deliver(encodeResume("nobody"));
  rig.socket.deliver(frameWith("nobody", "heartbeat", new Uint8Array()));
  rig.socket.deliver(frameWith("nobody", "ack", new Uint8Array()));
  assert.deepEqual(rig.sent, []);
});

Deno.test("resume, heartbeat and ack frames have no effect on a stream", async () => {
  await using rig = new ExecutorRig();
  const harness = await rig.open("s");
  harness.send("one");
  rig.socket.deliver(frameWith("s", "resume", Uint8Array.of(8, 77)));
  rig.socket.deliver(frameWith("s", "heartbeat", new Uint8Array()));
  rig.socket.deliver(frameWith("s", "ack", new Uint8Array()));
  harness.send("two");
  assert.equal(await rig.message(0, 1), "two");
  assert.deepEqual(rig.sent, ["handshake s"]);
});

Deno.test("a reset frame closes its stream without an answer, and no other", async () => {
  await using rig = new ExecutorRig();
  const gone = await rig.open("gone");
  const other = await rig.open("other");
  gone.reset();
  assert.equal(await rig.opened[0]!.received.end(), "reset by the peer");
  assert.equal(rig.streams.active, 1);
  other.send("still here");
  assert.equal(await rig.message(1, 0), "still here");
  assert.equal(rig.sent.length, 2);
  gone.send("into the void");
  assert.equal(rig.sent[2], "reset gone");
});

Deno.test("a record that does not open ends its stream by one reset, and no other", async () => {
  await using rig = new ExecutorRig();
  await rig.open("bad");
  const other = await rig.open("other");
  rig.socket.deliver(encodeData("bad", 0, RECORD));
  assert.deepEqual((await rig.socket.frames(3)).slice(2).map(({ kind, streamId }) => [kind, streamId]), [
    ["reset", "bad"],
  ]);
  await rig.opened[0]!.received.end();
  assert.equal(rig.streams.active, 1);
  other.send("still here");
  assert.equal(await rig.message(1, 0), "still here");
  assert.equal(rig.sent.length, 3);
});

Deno.test("a stream that is closed from inside is reset once", async () => {
  await using rig = new ExecutorRig();
  await rig.open("s");
  rig.opened[0]!.stream.close();
  await rig.opened[0]!.received.end();
  assert.deepEqual((await rig.socket.frames(2)).map(({ kind }) => kind), ["handshake", "reset"]);
  assert.equal(rig.streams.active, 0);
});

Deno.test("an old stream that is closed once more does nothing to a newer one with the same id", async () => {
  await using rig = new ExecutorRig();
  const first = await rig.open("s");
  first.reset();
  const second = await rig.open("s");
  rig.opened[0]!.stream.close();
  await rig.opened[0]!.received.end();
  assert.equal(rig.streams.active, 1);
  second.send("to the second");
  assert.equal(await rig.message(1, 0), "to the second");
  assert.deepEqual(rig.sent, ["handshake s", "handshake s"]);
});

Deno.test("a stream's records are bound to it: those of another one end it", async () => {
  await using rig = new ExecutorRig();
  const one = await rig.open("one");
  await rig.open("two");
  rig.socket.deliver(encodeData("two", 0, one.seal("for one")));
  await rig.opened[1]!.received.end();
  assert.deepEqual(rig.opened[1]!.received.messages, []);
  assert.equal(rig.sent.at(-1), "reset two");
});

Deno.test("the end of the socket ends all streams, and the requests to the registry", async () => {
  await using rig = new ExecutorRig();
  await rig.open("one");
  await rig.open("two");
  (await rig.harness("three")).greet();
  const { signal } = await rig.question(2);
  rig.socket.end("pong_timeout");
  assert.equal(await rig.streams.ended, "pong_timeout");
  assert.equal(await rig.opened[0]!.received.end(), "pong_timeout");
  assert.equal(await rig.opened[1]!.received.end(), "pong_timeout");
  assert.equal(signal.aborted, true);
  assert.equal(rig.streams.active, 0);
  assert.equal(rig.clock.pendingTimers, 0);
  assert.deepEqual(rig.refusals, []);
});

Deno.test("to dispose of the streams drops the socket, without a reset", async () => {
  const rig = new ExecutorRig();
  await rig.open("s");
  await rig[Symbol.asyncDispose]();
  assert.equal(rig.socket.closed, "at once");
  assert.equal(await rig.streams.ended, "closed by us");
  assert.deepEqual(rig.sent, ["handshake s"]);
});

Deno.test("a verdict that comes after the end of the socket opens nothing", async () => {
  const rig = new ExecutorRig();
  (await rig.harness("s")).greet();
  const { answer } = await rig.question(0);
  rig.socket.end("connection lost");
  answer("valid");
  await rig[Symbol.asyncDispose]();
  assert.deepEqual([rig.opened, rig.sent], [[], []]);
});

Deno.test("where the socket takes no message 2 there is no stream", async () => {
  await using rig = new ExecutorRig();
  (await rig.harness("s")).greet();
  const { answer } = await rig.question(0);
  rig.socket.bufferedBytes = 2 ** 30;
  answer("valid");
  await rig.allRead();
  assert.deepEqual([rig.opened, rig.streams.active], [[], 0]);
});

Deno.test("a stream id whose reset would be too large for a frame is not answered", async () => {
  await using rig = new ExecutorRig();
  const long = "é".repeat(98_305);
  rig.socket.deliver(encodeData(long, 0, RECORD));
  rig.socket.deliver(encodeHandshake(long, RECORD));
  assert.deepEqual(rig.sent, []);
  rig.socket.deliver(encodeData(long.slice(1), 0, RECORD));
  assert.equal(rig.sent.length, 1);
});
