import assert from "node:assert/strict";
import type { Clock } from "../../../lib/clock.ts";
import { waitingClock } from "../../../lib/clock.ts";
import type { RelaySocket } from "../../../lib/relay/socket/relay_socket.ts";
import { dialRendezvous } from "../../../lib/relay/socket/ws_socket.ts";
import { ManualClock } from "../../support/manual_clock.ts";
import { OPCODE, type RawPeer, rawRendezvous, serverFrame } from "../raw_rendezvous.ts";

const signal = new AbortController().signal;

/** What a socket delivers. */
class Record {
  readonly seen: (string | number)[] = [];
  readonly ended = Promise.withResolvers<string>();
  /** The newest binary message. */
  bytes: Uint8Array<ArrayBuffer> = new Uint8Array();
  #next = Promise.withResolvers<void>();

  constructor(socket: RelaySocket) {
    socket.start({
      binary: (message) => this.#saw(message.length, message),
      text: () => this.#saw("text"),
      ended: (reason) => {
        this.#saw(reason);
        this.ended.resolve(reason);
      },
    });
  }

  async count(count: number): Promise<void> {
    while (this.seen.length < count) await this.#next.promise;
  }

  #saw(what: string | number, bytes = this.bytes): void {
    this.seen.push(what);
    this.bytes = bytes;
    this.#next.resolve();
    this.#next = Promise.withResolvers();
  }
}

async function dial(url: string, clock: Clock = waitingClock): Promise<RelaySocket> {
  return await dialRendezvous(url, { signal, timeoutMs: 10_000 }, clock);
}

/** What a socket sees, and what comes back, when the peer sends these bytes. */
async function afterBytes(...parts: Uint8Array[]): Promise<{ seen: (string | number)[]; answer: number[] }> {
  const answer = Promise.withResolvers<number[]>();
  await using server = rawRendezvous(async (peer) => {
    await peer.write(...parts);
    answer.resolve(await peer.rest());
    peer.close();
  });
  const socket = await dial(server.url);
  const record = new Record(socket);
  await record.ended.promise;
  await socket.gone;
  return { seen: record.seen, answer: await answer.promise };
}

Deno.test("a rendezvous socket carries binary messages in order, and tells of text messages without their text", async () => {
  await using server = rawRendezvous(async (peer) => {
    await peer.write(
      serverFrame(OPCODE.binary, "one"),
      serverFrame(OPCODE.text, "secret"),
      serverFrame(OPCODE.binary, 0),
    );
    const frame = await peer.frame();
    await peer.write(serverFrame(OPCODE.binary, frame!.payload));
    await peer.rest();
    peer.close();
  });
  const socket = await dial(server.url);
  const record = new Record(socket);
  await record.count(3);
  socket.send(Uint8Array.of(7, 8, 9));
  await record.count(4);
  assert.deepEqual(record.seen, [3, "text", 0, 3]);
  assert.deepEqual(record.bytes, Uint8Array.of(7, 8, 9));
  socket.close("at once");
  assert.equal(record.seen[4], "closed by us");
  await socket.gone;
});

Deno.test("what comes together with the answer to the upgrade is delivered once the socket is started", async () => {
  await using server = rawRendezvous(async (peer) => {
    await peer.write(serverFrame(OPCODE.binary, 5));
    await peer.rest();
    peer.close();
  });
  const socket = await dial(server.url);
  // Somebody who takes his time.
  for (let turn = 0; turn < 5; turn++) await new Promise((resolve) => setTimeout(resolve));
  const record = new Record(socket);
  await record.count(1);
  assert.deepEqual(record.seen, [5]);
  socket.close("at once");
  await socket.gone;
});

Deno.test("a message of 262144 bytes is delivered, also in fragments with a ping in between", async () => {
  const size = 262_144;
  const { seen } = await afterBytes(
    serverFrame(OPCODE.binary, size),
    serverFrame(OPCODE.binary, size / 2, { first: 0 }),
    serverFrame(OPCODE.ping, "x"),
    serverFrame(OPCODE.continuation, size / 2),
    serverFrame(OPCODE.close, Uint8Array.of(0x03, 0xe8)),
  );
  assert.deepEqual(seen, [size, size, "closed by the peer"]);
});

Deno.test("a larger message ends the socket without a close frame, be it binary, text or in fragments", async () => {
  const size = 262_145;
  const dropped = { seen: ["message too big"], answer: [] };
  assert.deepEqual(await afterBytes(serverFrame(OPCODE.binary, size)), dropped);
  assert.deepEqual(await afterBytes(serverFrame(OPCODE.text, size)), dropped);
  const fragments = [serverFrame(OPCODE.binary, size - 1, { first: 0 }), serverFrame(OPCODE.continuation, 1)];
  assert.deepEqual(await afterBytes(...fragments), dropped);
  const huge = Uint8Array.of(0x82, 127, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff);
  assert.deepEqual(await afterBytes(huge), dropped);
});

Deno.test("a frame against the rules ends the socket without a close frame", async () => {
  const frames = {
    "RSV1": serverFrame(OPCODE.binary, "x", { first: 0xc0 }),
    "RSV2": serverFrame(OPCODE.binary, "x", { first: 0xa0 }),
    "RSV3": serverFrame(OPCODE.ping, "x", { first: 0x90 }),
    "masked": serverFrame(OPCODE.binary, "x", { masked: true }),
    "text that is no UTF-8": serverFrame(OPCODE.text, Uint8Array.of(0xff)),
    "continuation of nothing": serverFrame(OPCODE.continuation, "x"),
    "unknown opcode": serverFrame(3, "x"),
    "unknown control opcode": serverFrame(11, "x"),
    "ping in fragments": serverFrame(OPCODE.ping, "x", { first: 0 }),
    "ping of 126 bytes": serverFrame(OPCODE.ping, 126),
    "close code that is none": serverFrame(OPCODE.close, Uint8Array.of(0, 1)),
    "close of one byte": serverFrame(OPCODE.close, 1),
    "close reason that is no UTF-8": serverFrame(OPCODE.close, Uint8Array.of(0x03, 0xe8, 0xff)),
  };
  for (const [name, frame] of Object.entries(frames)) {
    assert.deepEqual(await afterBytes(frame), { seen: ["protocol violation"], answer: [] }, name);
  }
});

Deno.test("a socket tells how the peer ended it, but not what it said", async () => {
  const goodbye = Uint8Array.of(0x0f, 0xa0, ...new TextEncoder().encode("secret"));
  const close = await afterBytes(serverFrame(OPCODE.close, goodbye));
  assert.deepEqual(close, { seen: ["closed by the peer"], answer: [OPCODE.close] });
  const bare = await afterBytes(serverFrame(OPCODE.close, 0));
  assert.deepEqual(bare, { seen: ["closed by the peer"], answer: [OPCODE.close] });

  await using server = rawRendezvous((peer) => Promise.resolve(peer.close()));
  const socket = await dial(server.url);
  assert.equal(await new Record(socket).ended.promise, "connection lost");
  await socket.gone;
});

Deno.test("a socket that the peer resets in the middle of a frame is lost", async () => {
  await using server = rawRendezvous(async (peer) => {
    await peer.frame();
    await peer.write(serverFrame(OPCODE.binary, 100).subarray(0, 50));
    // With unread input the system answers the close by a reset.
    peer.close();
  });
  const socket = await dial(server.url);
  const record = new Record(socket);
  for (let count = 0; count < 64; count++) socket.send(new Uint8Array(61_440));
  assert.equal(await record.ended.promise, "connection lost");
  socket.send(new Uint8Array(1));
  socket.close("politely");
  socket.close("at once");
  await socket.drainedTo(0);
  assert.deepEqual(record.seen, ["connection lost"]);
  await socket.gone;
});

Deno.test("a polite close sends what was sent before it, and a close frame", async () => {
  const came = Promise.withResolvers<number[]>();
  await using server = rawRendezvous(async (peer) => {
    const opcodes = [(await peer.frame())!.opcode, (await peer.frame())!.opcode];
    await peer.write(serverFrame(OPCODE.binary, "late"), serverFrame(OPCODE.close, Uint8Array.of(0x03, 0xe8)));
    came.resolve([...opcodes, ...await peer.rest()]);
    peer.close();
  });
  const socket = await dial(server.url);
  const record = new Record(socket);
  socket.send(new Uint8Array(100_000));
  socket.close("politely");
  assert.deepEqual(record.seen, ["closed by us"]);
  socket.send(new Uint8Array(1));
  await socket.gone;
  assert.deepEqual(await came.promise, [OPCODE.binary, OPCODE.close]);
  assert.deepEqual(record.seen, ["closed by us"]);
});

Deno.test("messages arrive whole and in order, small ones sent in one turn and large ones between them", async () => {
  const sizes = Array.from(
    { length: 200 },
    (_, index) => index % 7 === 3 ? 4080 + index : index % 40 === 1 ? 70_000 : index,
  );
  const got = Promise.withResolvers<number[][]>();
  await using server = rawRendezvous(async (peer) => {
    const frames = [];
    for (let frame = await peer.frame(); frame?.opcode === OPCODE.binary; frame = await peer.frame()) {
      const { payload } = frame;
      frames.push([payload.length, payload[0] ?? 0, payload.at(-1) ?? 0]);
    }
    got.resolve(frames);
    peer.close();
  });
  const socket = await dial(server.url);
  new Record(socket);
  for (const [index, size] of sizes.entries()) socket.send(new Uint8Array(size).fill(index));
  assert.equal(socket.bufferedBytes, sizes.reduce((sum, size) => sum + size));
  await socket.drainedTo(0);
  socket.send(Uint8Array.of(1));
  socket.send(Uint8Array.of(2));
  socket.close("politely");
  const expected = sizes.map((size, index) => size === 0 ? [0, 0, 0] : [size, index, index]);
  assert.deepEqual(await got.promise, [...expected, [1, 1, 1], [1, 2, 2]]);
  await socket.gone;
});

Deno.test("a peer that does not answer a polite close keeps no socket", async () => {
  await using server = rawRendezvous(async (peer) => {
    await peer.rest();
    peer.close();
  });
  const socket = await dial(server.url);
  new Record(socket);
  socket.close("politely");
  await socket.gone;
});

Deno.test("a socket that was closed before its start tells so at the start", async () => {
  await using server = rawRendezvous(async (peer) => {
    await peer.rest();
    peer.close();
  });
  const socket = await dial(server.url);
  socket.close("at once");
  await socket.gone;
  assert.deepEqual(new Record(socket).seen, ["closed by us"]);
});

Deno.test("pings of the peer are answered with what was in them", async () => {
  const pong = Promise.withResolvers<unknown>();
  await using server = rawRendezvous(async (peer) => {
    await peer.write(serverFrame(OPCODE.ping, "hello"));
    pong.resolve(await peer.frame());
    await peer.rest();
    peer.close();
  });
  const socket = await dial(server.url);
  new Record(socket);
  assert.deepEqual(await pong.promise, { opcode: OPCODE.pong, fin: true, payload: new TextEncoder().encode("hello") });
  socket.close("at once");
  await socket.gone;
});

Deno.test("of many pings at once the first and the last are answered, and the socket goes on", async () => {
  const pongs = Promise.withResolvers<string[]>();
  await using server = rawRendezvous(async (peer) => {
    const pings = Array.from({ length: 500 }, (_, index) => [...serverFrame(OPCODE.ping, `${index}`)]);
    await peer.write(Uint8Array.from(pings.flat()));
    const came: string[] = [];
    while (came.at(-1) !== "499") {
      const frame = await peer.frame();
      if (frame === null) break;
      assert.equal(frame.opcode, OPCODE.pong);
      came.push(new TextDecoder().decode(frame.payload));
    }
    pongs.resolve(came);
    await peer.write(serverFrame(OPCODE.binary, 5));
    await peer.rest();
    peer.close();
  });
  const socket = await dial(server.url);
  const record = new Record(socket);
  const answered = await pongs.promise;
  assert.deepEqual([answered[0], answered.at(-1)], ["0", "499"]);
  await record.count(1);
  assert.deepEqual(record.seen, [5]);
  socket.close("at once");
  await socket.gone;
});

Deno.test("answers to pings do not pile up for a peer that does not read", async () => {
  const clock = new ManualClock();
  const sent = Promise.withResolvers<void>();
  const over = Promise.withResolvers<void>();
  const pongs = Promise.withResolvers<number>();
  await using server = rawRendezvous(async (peer) => {
    const pings = Uint8Array.from(Array.from({ length: 500 }, () => [...serverFrame(OPCODE.ping, 125)]).flat());
    for (let round = 0; round < 100; round++) await peer.write(pings);
    await peer.write(serverFrame(OPCODE.binary, 5));
    sent.resolve();
    await over.promise;
    pongs.resolve((await peer.rest()).length);
    peer.close();
  });
  const socket = await dial(server.url, clock);
  const record = new Record(socket);
  // As much as the system takes for a peer that does not read, and more.
  for (let count = 0; count < 32; count++) socket.send(new Uint8Array(262_144));
  await sent.promise;
  await record.count(1);
  assert.deepEqual(record.seen, [5]);
  over.resolve();
  await socket.drainedTo(0);
  socket.close("politely");
  await socket.gone;
  // 32 messages and the close; of 50000 pings those that were read while the system still took something.
  assert.ok(await pongs.promise < 5000);
});

Deno.test("a socket pings with nothing in it, and is dropped when that is not answered", async () => {
  const clock = new ManualClock();
  const frames: unknown[] = [];
  const pinged = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
  const rest = Promise.withResolvers<number[]>();
  await using server = rawRendezvous(async (peer: RawPeer) => {
    for (const [round, { resolve }] of pinged.entries()) {
      frames.push(await peer.frame());
      if (round === 0) await peer.write(serverFrame(OPCODE.pong, 0), serverFrame(OPCODE.binary, 1));
      resolve();
    }
    rest.resolve(await peer.rest());
    peer.close();
  });
  const socket = await dial(server.url, clock);
  const record = new Record(socket);
  clock.advance(30_000);
  await pinged[0]!.promise;
  await record.count(1);
  clock.advance(30_000);
  await pinged[1]!.promise;
  clock.advance(60_000);
  assert.deepEqual(record.seen, [1, "pong_timeout"]);
  await socket.gone;
  const ping = { opcode: OPCODE.ping, fin: true, payload: new Uint8Array() };
  assert.deepEqual(frames, [ping, ping]);
  assert.deepEqual(await rest.promise, []);
  assert.equal(clock.pendingTimers, 0);
});

Deno.test("a peer that reads nothing is dropped when a write has made no progress", async () => {
  const clock = new ManualClock();
  const over = Promise.withResolvers<void>();
  await using server = rawRendezvous(async (peer) => {
    await over.promise;
    peer.close();
  });
  const socket = await dial(server.url, clock);
  const record = new Record(socket);
  for (let count = 0; count < 64; count++) socket.send(new Uint8Array(262_144));
  assert.equal(socket.bufferedBytes, 64 * 262_144);
  const drained = socket.drainedTo(0);
  clock.advance(60_000);
  assert.deepEqual(record.seen, ["write_timeout"]);
  await drained;
  assert.equal(socket.bufferedBytes, 0);
  await socket.gone;
  over.resolve();
});

Deno.test("the bytes that the system has not taken yet become fewer as the peer reads", async () => {
  let received = 0;
  await using server = rawRendezvous(async (peer) => {
    for (let frame; (frame = await peer.frame()) !== null && frame.opcode === OPCODE.binary;) {
      received += frame.payload.length;
    }
    peer.close();
  });
  const socket = await dial(server.url);
  new Record(socket);
  for (let count = 0; count < 40; count++) socket.send(new Uint8Array(61_440));
  await socket.drainedTo(500_000);
  assert.ok(socket.bufferedBytes <= 500_000);
  await socket.drainedTo(0);
  assert.equal(socket.bufferedBytes, 0);
  socket.close("politely");
  await socket.gone;
  assert.equal(received, 40 * 61_440);
});
