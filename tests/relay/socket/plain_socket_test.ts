import assert from "node:assert/strict";
import { type Clock, waitingClock } from "../../../lib/clock.ts";
import { dialPlain, type PlainSocket } from "../../../lib/relay/socket/plain_socket.ts";
import { RawWebSocketServer } from "../../client/support/raw_websocket_server.ts";
import { ManualClock } from "../../support/manual_clock.ts";
import { OPCODE, type RawPeer, rawRendezvous, serverFrame } from "../raw_rendezvous.ts";

const signal = new AbortController().signal;
const LABEL = "exec-server websocket 127.0.0.1";
const FAILURE = `failed to read websocket JSON-RPC message from ${LABEL}: `;

async function dial(url: string, clock: Clock = waitingClock, keepalive = false): Promise<PlainSocket> {
  return await dialPlain(url, { signal, timeoutMs: 10_000, label: LABEL, clock, keepalive });
}

/** What a socket delivers; texts and bytes as text. */
class Record {
  readonly seen: string[] = [];
  readonly ended = Promise.withResolvers<string>();
  /** Set: the receiver is busy with a message until this is resolved. */
  busy: PromiseWithResolvers<void> | undefined;
  #next = Promise.withResolvers<void>();

  constructor(socket: PlainSocket) {
    socket.start({
      message: (message) => {
        assert.ok(message instanceof Uint8Array);
        this.#saw(message.length > 100 ? String(message.length) : new TextDecoder().decode(message));
        return this.busy?.promise;
      },
      ended: ({ reason, failure }) => {
        this.#saw(failure ?? reason);
        this.ended.resolve(reason);
      },
    });
  }

  async count(count: number): Promise<void> {
    while (this.seen.length < count) await this.#next.promise;
  }

  #saw(what: string): void {
    this.seen.push(what);
    this.#next.resolve();
    this.#next = Promise.withResolvers();
  }
}

async function untilGone(peer: RawPeer): Promise<void> {
  await peer.rest();
  peer.close();
}

Deno.test("a plain socket carries texts and bytes, both as bytes", async () => {
  const came: unknown[] = [];
  await using server = rawRendezvous(async (peer) => {
    came.push(await peer.frame(), await peer.frame());
    await peer.write(
      serverFrame(OPCODE.text, "\ufeffé"),
      serverFrame(OPCODE.binary, "b"),
      serverFrame(OPCODE.text, ""),
    );
    await untilGone(peer);
  });
  const socket = await dial(server.url);
  const record = new Record(socket);
  socket.send("é");
  socket.sendBytes(Uint8Array.of(1, 2));
  await record.count(3);
  assert.deepEqual(record.seen, ["é", "b", ""]);
  assert.deepEqual(came, [
    { opcode: OPCODE.text, fin: true, payload: new TextEncoder().encode("é") },
    { opcode: OPCODE.binary, fin: true, payload: Uint8Array.of(1, 2) },
  ]);
  socket.drop();
  await socket.gone;
});

Deno.test("a plain socket sends a large message in fragments of 8 MiB", async () => {
  const size = 8 * 1024 * 1024;
  const echoed = Promise.withResolvers<unknown[]>();
  await using server = new RawWebSocketServer(async ({ accept, tcp }) => {
    await accept();
    // The headers alone: unmasking so much by hand takes seconds.
    const frames = [];
    const chunk = new Uint8Array(256 * 1024);
    let [header, skip] = [new Uint8Array(), 0];
    while (frames.length < 4) {
      const count = await tcp.read(chunk);
      if (count === null) break;
      for (let at = 0; at < count;) {
        const skipped = Math.min(skip, count - at);
        [skip, at] = [skip - skipped, at + skipped];
        if (skip > 0 || at === count) continue;
        header = Uint8Array.of(...header, chunk[at++]!);
        const short = (header[1] ?? 0) & 0x7f;
        const length = (short < 126 ? 2 : short === 126 ? 4 : 10) + 4;
        if (header.length < 2 || header.length < length) continue;
        const view = new DataView(header.buffer);
        skip = short < 126 ? short : short === 126 ? view.getUint16(2) : Number(view.getBigUint64(2));
        frames.push([header[0], skip]);
        header = new Uint8Array();
      }
    }
    echoed.resolve(frames);
    tcp.close();
  });
  const socket = await dial(server.url);
  const record = new Record(socket);
  socket.sendBytes(new Uint8Array(size));
  socket.sendBytes(new Uint8Array(2 * size + 1));
  assert.equal(socket.congested, true);
  assert.deepEqual(await echoed.promise, [[0x82, size], [0x02, size], [0x00, size], [0x80, 1]]);
  await socket.drained();
  assert.equal(await record.ended.promise, "connection lost");
  await socket.gone;
});

Deno.test("a plain socket takes messages of 64 MiB and no larger ones", async () => {
  const size = 64 * 1024 * 1024;
  await using server = rawRendezvous(async (peer) => {
    await peer.write(serverFrame(OPCODE.binary, size), serverFrame(OPCODE.text, size / 2, { first: 0 }));
    await peer.write(serverFrame(OPCODE.continuation, size / 2));
    // The beginning of a larger one.
    await peer.write(Uint8Array.of(0x82, 127, 0, 0, 0, 0, 4, 0, 0, 1));
    await untilGone(peer);
  });
  const socket = await dial(server.url);
  const record = new Record(socket);
  await record.ended.promise;
  assert.deepEqual(record.seen, [`${size}`, `${size}`, `${FAILURE}message too big`]);
  await socket.gone;
});

Deno.test("a receiver that is busy stops its peer, and gets all that came before the end", async () => {
  let written = 0;
  await using server = rawRendezvous(async (peer) => {
    try {
      for (; written < 4000; written++) await peer.write(serverFrame(OPCODE.binary, 8192));
    } finally {
      await peer.write(serverFrame(OPCODE.close, Uint8Array.of(0x03, 0xe8)));
      await untilGone(peer);
    }
  });
  const socket = await dial(server.url);
  const record = new Record(socket);
  record.busy = Promise.withResolvers();
  await record.count(1);
  // As much as the system holds, and no more.
  for (let before = -1; before !== written;) {
    before = written;
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
  assert.ok(written < 4000, `${written} messages were taken`);
  assert.equal(record.seen.length, 1);
  const { busy } = record;
  record.busy = undefined;
  busy.resolve();
  await record.ended.promise;
  assert.equal(record.seen.length, 4001);
  assert.equal(record.seen.at(-1), "closed by the peer");
  await socket.gone;
});

Deno.test("a busy receiver gets what came before its peer was lost", async () => {
  await using server = rawRendezvous(async (peer) => {
    await peer.write(
      serverFrame(OPCODE.text, "one"),
      serverFrame(OPCODE.text, "two"),
      serverFrame(OPCODE.text, "three"),
    );
    peer.close();
  });
  const socket = await dial(server.url);
  const record = new Record(socket);
  record.busy = Promise.withResolvers();
  await record.count(1);
  const { busy } = record;
  record.busy = undefined;
  busy.resolve();
  await record.ended.promise;
  assert.deepEqual(record.seen, ["one", "two", "three", `${FAILURE}connection lost`]);
  await socket.gone;
});

Deno.test("a plain socket closes with a code, behind what was sent, and waits a second for the answer", async () => {
  const came = Promise.withResolvers<unknown[]>();
  await using server = rawRendezvous(async (peer) => {
    came.resolve([(await peer.frame())?.opcode, await peer.frame()]);
    await untilGone(peer);
  });
  const socket = await dial(server.url);
  const record = new Record(socket);
  socket.send("last");
  socket.close(1008, "policy");
  assert.deepEqual(record.seen, ["policy"]);
  socket.send("late");
  socket.close();
  await socket.drained();
  const payload = Uint8Array.of(0x03, 0xf0, ...new TextEncoder().encode("policy"));
  assert.deepEqual(await came.promise, [OPCODE.text, { opcode: OPCODE.close, fin: true, payload }]);
  await socket.gone;
  assert.deepEqual(record.seen, ["policy"]);
});

Deno.test("a plain socket that is dropped sends no close frame", async () => {
  const rest = Promise.withResolvers<number[]>();
  await using server = rawRendezvous(async (peer) => {
    rest.resolve(await peer.rest());
    peer.close();
  });
  const socket = await dial(server.url);
  const record = new Record(socket);
  socket.drop();
  socket.drop();
  await socket.gone;
  assert.deepEqual(await rest.promise, []);
  assert.deepEqual(record.seen, ["closed by us"]);
});

Deno.test("a plain socket notices that its peer has gone only if it is asked to", async () => {
  await using server = rawRendezvous(untilGone);
  const clock = new ManualClock();
  const quiet = await dial(server.url, clock);
  new Record(quiet);
  assert.equal(clock.pendingTimers, 0);
  quiet.drop();
  await quiet.gone;

  const watchful = await dial(server.url, clock, true);
  const record = new Record(watchful);
  clock.advance(90_000);
  assert.deepEqual(record.seen, [`${FAILURE}pong_timeout`]);
  await watchful.gone;
});

Deno.test("a peer whose answers are not read, because the receiver is busy, is not taken for gone", async () => {
  await using server = rawRendezvous(async (peer) => {
    await peer.write(serverFrame(OPCODE.text, "one"), serverFrame(OPCODE.text, "two"));
    await untilGone(peer);
  });
  const clock = new ManualClock();
  const socket = await dial(server.url, clock, true);
  const record = new Record(socket);
  const busy = record.busy = Promise.withResolvers();
  await record.count(1);
  clock.advance(1_000_000);
  record.busy = undefined;
  busy.resolve();
  await record.count(2);
  assert.deepEqual(record.seen, ["one", "two"]);
  clock.advance(90_000);
  assert.deepEqual(record.seen, ["one", "two", `${FAILURE}pong_timeout`]);
  await socket.gone;
});

Deno.test("a plain socket that was dropped before its start tells so at the start", async () => {
  await using server = rawRendezvous(untilGone);
  const socket = await dial(server.url);
  socket.drop();
  await socket.gone;
  assert.deepEqual(new Record(socket).seen, ["closed by us"]);
});

Deno.test("a refused upgrade of a plain socket tells its status", async () => {
  await using server = new RawWebSocketServer(({ answer }) => answer("HTTP/1.1 409 No\r\nContent-Length: 0\r\n\r\n"));
  await assert.rejects(dial(server.url), { name: "DialError", failure: "upgrade refused", status: 409 });
});
