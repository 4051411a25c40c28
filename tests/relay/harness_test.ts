import assert from "node:assert/strict";
import { encodeData, encodeHandshake, encodeReset, encodeResume } from "../../lib/relay/stream/frame.ts";
import { HarnessError } from "../../lib/relay/harness.ts";
import { MAX_QUEUED_FRAMES } from "../../lib/relay/limits.ts";
import { REJECTED_PAYLOAD } from "../../lib/relay/noise/noise.ts";
import { DialError } from "../../lib/relay/socket/relay_socket.ts";
import { StaticKeys } from "../../lib/relay/noise/static_keys.ts";
import { idle } from "../support/scripted_server.ts";
import { Recorder } from "../support/recorder.ts";
import { BUNDLE, HarnessRig, primitives } from "./harness_rig.ts";
import { dataFrame, frameWith } from "./support/frame_view.ts";

const NOTHING = new Uint8Array();
const GARBAGE = Uint8Array.of(1, 2, 3);

/** A frame that is one, and whose body breaks a rule: its reason is missing. */
function invalidFrame(streamId: string): Uint8Array<ArrayBuffer> {
  return frameWith(streamId, "reset", NOTHING);
}

/** Messages that mean nothing to a harness, whenever they come. */
function meaningless(streamId: string): Uint8Array<ArrayBuffer>[] {
  const other = "another stream";
  return [
    ...[frameWith(streamId, "heartbeat", NOTHING), frameWith(streamId, "ack", NOTHING), encodeResume(streamId)],
    ...[encodeReset(other), encodeHandshake(other, GARBAGE), dataFrame(other, 0, GARBAGE), invalidFrame(other)],
    // Without a stream id it is nobody's.
    invalidFrame(""),
    encodeReset(` ${streamId}`),
  ];
}

Deno.test("a harness sends resume and handshake back to back, and nothing until it is answered", async () => {
  await using rig = new HarnessRig({ headers: { traceparent: "00-1" }, connectTimeoutMs: 7 });
  const { streamId } = await rig.greeting();
  assert.match(streamId, /^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/);
  assert.deepEqual(rig.dialled, [{ url: BUNDLE.url, headers: { traceparent: "00-1" }, timeoutMs: 7 }]);
  assert.equal(rig.opened, 1);
  await idle();
  assert.equal(rig.socket.sent.length, 2);
  const { authorization } = await rig.answer();
  assert.equal(authorization, BUNDLE.authorization);
});

Deno.test("each connection has a stream of its own", async () => {
  await using one = new HarnessRig();
  await using other = new HarnessRig();
  assert.notEqual((await one.greeting()).streamId, (await other.greeting()).streamId);
});

Deno.test("an answered harness is a connection that carries messages both ways", async () => {
  await using rig = new HarnessRig();
  const { harness: { stream, gone }, executor } = await rig.open();
  assert.equal(stream.label, "the far end");
  assert.equal(stream.malformedPrefix, "failed to parse JSON-RPC message from the far end: ");
  const heard = new Recorder(stream);
  stream.send("one");
  executor.send("two");
  assert.equal(await executor.read(), "one");
  assert.deepEqual((await heard.received(1)).map(text), ["two"]);
  stream.close();
  await gone;
  assert.equal(rig.socket.closed, "politely");
  assert.deepEqual(rig.socket.sent.map(({ kind }) => kind), ["resume", "handshake", "data"]);
});

Deno.test("frames of other streams and of the layer that nobody has are ignored", async () => {
  await using rig = new HarnessRig();
  const { streamId } = await rig.greeting();
  for (const frame of meaningless(streamId)) rig.socket.deliver(frame);
  const { harness: { stream }, executor } = await rig.open();
  const heard = new Recorder(stream);
  for (const frame of meaningless(streamId)) rig.socket.deliver(frame);
  executor.send("still there");
  assert.deepEqual((await heard.received(1)).map(text), ["still there"]);
});

Deno.test("a handshake ends at whatever else comes before the answer", async (test) => {
  const sent: Record<string, (rig: HarnessRig, streamId: string) => void | Promise<void>> = {
    "a reset": (rig, streamId) => rig.socket.deliver(encodeReset(streamId)),
    "a record": (rig, streamId) => rig.socket.deliver(encodeData(streamId, 0, GARBAGE)),
    "an invalid frame": (rig, streamId) => rig.socket.deliver(invalidFrame(streamId)),
    "no frame at all": (rig) => rig.socket.deliver(Uint8Array.of(0xff)),
    "a text": (rig) => rig.socket.deliverText(),
    "the socket's end": (rig) => rig.socket.end("closed by the peer"),
    "a short answer": (rig, streamId) => rig.socket.deliver(encodeHandshake(streamId, GARBAGE)),
    "a changed answer": async (rig, streamId) => {
      const { message2 } = await rig.answer();
      message2[2000]! ^= 1;
      rig.socket.deliver(encodeHandshake(streamId, message2));
    },
    "the answer to another greeting": async (rig, streamId) => {
      await using other = new HarnessRig();
      rig.socket.deliver(encodeHandshake(streamId, (await other.answer()).message2));
    },
    "an answer with a payload": async (rig, streamId) => {
      rig.socket.deliver(encodeHandshake(streamId, (await rig.answer({ payload: GARBAGE })).message2));
    },
    "two answers": async (rig, streamId) => {
      const { message2 } = await rig.answer();
      for (let i = 0; i < 2; i++) rig.socket.deliver(encodeHandshake(streamId, message2));
    },
    "a reset behind the answer": async (rig, streamId) => {
      await rig.accept();
      rig.socket.deliver(encodeReset(streamId));
    },
    "more records behind the answer than are kept": async (rig, streamId) => {
      await rig.accept();
      for (let seq = 0; seq <= MAX_QUEUED_FRAMES; seq++) rig.socket.deliver(encodeData(streamId, seq, GARBAGE));
    },
  };
  for (const [what, send] of Object.entries(sent)) {
    await test.step(what, async () => {
      await using rig = new HarnessRig();
      const { streamId } = await rig.greeting();
      await send(rig, streamId);
      await assert.rejects(rig.opening, (error) => error instanceof HarnessError && error.failure === "failed");
      await rig.socket.gone;
      assert.deepEqual(rig.socket.sent.map(({ kind }) => kind), ["resume", "handshake"]);
    });
  }
});

Deno.test("only an executor whose own credentials the registry refuses may say so", async () => {
  await using rig = new HarnessRig();
  const { streamId } = await rig.greeting();
  const { message2 } = await rig.answer({ payload: new Uint8Array(REJECTED_PAYLOAD) });
  rig.socket.deliver(encodeHandshake(streamId, message2));
  await assert.rejects(rig.opening, { failure: "executor credentials rejected" });
  assert.equal(rig.socket.closed, "at once");

  await using forged = new HarnessRig();
  const { streamId: other } = await forged.greeting();
  forged.socket.deliver(encodeHandshake(other, message2));
  await assert.rejects(forged.opening, { failure: "failed" });
});

Deno.test("nobody but the executor that the registry named can answer", async () => {
  using impostor = await StaticKeys.generate(primitives);
  await using rig = new HarnessRig();
  await assert.rejects(rig.answer({ keys: impostor }), { name: "HandshakeError" });
});

Deno.test("a harness waits for the answer until its time is up, counted from when the socket is open", async () => {
  const dialled = Promise.withResolvers<void>();
  await using rig: HarnessRig = new HarnessRig({
    dial: async () => {
      await dialled.promise;
      return rig.socket;
    },
  });
  await idle();
  rig.clock.advance(60_000);
  dialled.resolve();
  await rig.greeting();
  rig.clock.advance(9_999);
  await idle();
  assert.equal(rig.socket.closed, undefined);
  rig.clock.advance(1);
  await assert.rejects(rig.opening, { failure: "timeout" });
  assert.equal(rig.socket.closed, "at once");
});

Deno.test("an attempt that is given up leaves nothing", async () => {
  const reason = new Error("not wanted");
  await using early = new HarnessRig();
  early.abort(reason);
  early.socket.end("closed by us");
  await assert.rejects(early.opening, reason);
  assert.equal(early.dialled.length, 0);

  await using late = new HarnessRig();
  await late.greeting();
  late.abort(reason);
  await assert.rejects(late.opening, reason);
  assert.equal(late.socket.closed, "at once");
});

Deno.test("where there is no socket, the dial's own error says why", async () => {
  const refused = new DialError("upgrade refused", 401, "expired");
  await using rig = new HarnessRig({ dial: () => Promise.reject(refused) });
  rig.socket.end("closed by us");
  await assert.rejects(rig.opening, (error) => error === refused);
  assert.equal(rig.opened, 0);
});

Deno.test("an executor's key that is none fails before anything is dialled", async () => {
  const executor = { ...BUNDLE.executor, mlkem768: new Uint8Array(1184).fill(0xff) };
  await using rig = new HarnessRig({ bundle: { ...BUNDLE, executor } });
  rig.socket.end("closed by us");
  await assert.rejects(rig.opening, { failure: "failed" });
  assert.equal(rig.dialled.length, 0);
});

Deno.test("records that come right behind the answer are delivered", async () => {
  await using rig = new HarnessRig();
  const executor = await rig.accept();
  const texts = Array.from({ length: MAX_QUEUED_FRAMES }, (_, index) => `message ${index}`);
  for (const text of texts) executor.send(text);
  const heard = new Recorder((await rig.opening).stream);
  assert.deepEqual((await heard.received(texts.length)).map(text), texts);
});

Deno.test("an open stream ends at what breaks the rules, and the socket with it", async (test) => {
  const sent: Record<string, (rig: HarnessRig, streamId: string) => void> = {
    "a reset": (rig, streamId) => rig.socket.deliver(encodeReset(streamId)),
    "a handshake": (rig, streamId) => rig.socket.deliver(encodeHandshake(streamId, GARBAGE)),
    "an invalid frame": (rig, streamId) => rig.socket.deliver(invalidFrame(streamId)),
    "no frame at all": (rig) => rig.socket.deliver(Uint8Array.of(0xff)),
    "a text": (rig) => rig.socket.deliverText(),
    "a record that cannot be opened": (rig, streamId) => rig.socket.deliver(encodeData(streamId, 1, GARBAGE)),
    "the socket's end": (rig) => rig.socket.end("pong_timeout"),
  };
  const ends = new Map<string, string>();
  for (const [what, send] of Object.entries(sent)) {
    await test.step(what, async () => {
      await using rig = new HarnessRig();
      const { harness: { stream, gone }, executor } = await rig.open();
      const heard = new Recorder(stream);
      executor.send("before");
      send(rig, executor.streamId);
      ends.set(what, await heard.end());
      await gone;
      assert.deepEqual(heard.messages.map(text), ["before"]);
      assert.deepEqual(rig.socket.sent.map(({ kind }) => kind), ["resume", "handshake"]);
    });
  }
  assert.deepEqual(Object.fromEntries(ends), {
    "a reset": "reset by the peer",
    "a handshake": "protocol violation",
    "an invalid frame": "protocol violation",
    "no frame at all": "protocol violation",
    "a text": "protocol violation",
    "a record that cannot be opened": "bad record",
    "the socket's end": "pong_timeout",
  });
});

function text(message: string | Uint8Array): string {
  return typeof message === "string" ? message : new TextDecoder().decode(message);
}
