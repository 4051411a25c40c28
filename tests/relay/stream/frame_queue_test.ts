import assert from "node:assert/strict";
import { FrameQueue, type FrameSource } from "../../../lib/relay/stream/frame_queue.ts";
import { MAX_QUEUED_FRAMES, SOCKET_HIGH_WATER_BYTES } from "../../../lib/relay/limits.ts";
import { MemorySocket } from "../support/memory_socket.ts";

/** A stream of frames that are made at once; the first byte tells whose they are. */
class Frames implements FrameSource {
  readonly #queue: FrameQueue;
  readonly #frame: Uint8Array<ArrayBuffer>;
  left: number;

  constructor(queue: FrameQueue, id: number, frames: number, bytes: number) {
    this.#queue = queue;
    this.#frame = new Uint8Array(bytes).fill(id);
    this.left = frames;
  }

  sendNext(): boolean {
    if (this.left === 0) return false;
    this.left--;
    this.#queue.send(this.#frame);
    return this.left > 0;
  }
}

function open() {
  const socket = new MemorySocket();
  socket.takesAll = false;
  return { socket, queue: new FrameQueue(socket) };
}

function order(socket: MemorySocket): number[] {
  return socket.sent.map(([id]) => id!);
}

/** The queue goes on in a microtask or two after the socket has drained. */
async function drained(socket: MemorySocket, frames?: number): Promise<void> {
  socket.drain(frames);
  for (let turns = 0; turns < 5; turns++) await undefined;
}

Deno.test("FrameQueue sends at once while there is room", () => {
  const { socket, queue } = open();
  queue.request(new Frames(queue, 1, 2, 10));
  queue.request(new Frames(queue, 2, 1, 10));
  assert.deepEqual(order(socket), [1, 1, 2]);
});

Deno.test("FrameQueue lets no more into the socket than its bound and one frame, and goes on when it drains", async () => {
  const { socket, queue } = open();
  const flood = new Frames(queue, 1, 100, 60_000);
  queue.request(flood);
  assert.ok(socket.bufferedBytes >= SOCKET_HIGH_WATER_BYTES);
  while (flood.left > 0) await drained(socket, 3);
  assert.equal(socket.sent.length, 100);
  assert.ok(socket.peakBytes < SOCKET_HIGH_WATER_BYTES + 60_000, `${socket.peakBytes}`);
});

Deno.test("FrameQueue lets no more than 128 small frames wait in the socket", async () => {
  const { socket, queue } = open();
  const flood = new Frames(queue, 1, 1000, 50);
  queue.request(flood);
  assert.equal(socket.sent.length, MAX_QUEUED_FRAMES);
  await drained(socket, 10);
  assert.equal(socket.sent.length, MAX_QUEUED_FRAMES);
  await drained(socket, 60);
  assert.equal(socket.sent.length, MAX_QUEUED_FRAMES + 70);
  while (flood.left > 0) await drained(socket);
  assert.equal(socket.sent.length, 1000);
});

Deno.test("FrameQueue gives turns to those who wait, one frame each", async () => {
  const { socket, queue } = open();
  queue.request(new Frames(queue, 1, 40, 60_000));
  const before = socket.sent.length;
  queue.request(new Frames(queue, 2, 1, 100));
  queue.request(new Frames(queue, 3, 3, 60_000));
  assert.equal(socket.sent.length, before);
  await drained(socket);
  assert.deepEqual(order(socket).slice(before, before + 8), [1, 2, 3, 1, 3, 1, 3, 1]);
});

Deno.test("FrameQueue lets resets and handshakes in when a flood has taken the room, until theirs is used up", () => {
  const { socket, queue } = open();
  queue.request(new Frames(queue, 1, 100, 60_000));
  const frame = new Uint8Array(3500);
  let offered = 0;
  while (queue.offer(frame)) offered++;
  assert.ok(offered >= 32 && offered * frame.length < 300_000, `${offered}`);
  socket.drain();
  assert.ok(queue.offer(frame));
});

Deno.test("FrameQueue lets no more than 256 small resets wait in the socket", () => {
  const { queue } = open();
  let offered = 0;
  while (queue.offer(new Uint8Array(40))) offered++;
  assert.equal(offered, 2 * MAX_QUEUED_FRAMES);
});

Deno.test("FrameQueue counts frames that are being made, and goes on when they are there or given up", () => {
  const { socket, queue } = open();
  queue.announce(SOCKET_HIGH_WATER_BYTES);
  const source = new Frames(queue, 1, 1, 10);
  queue.request(source);
  assert.deepEqual(order(socket), []);
  queue.retract(SOCKET_HIGH_WATER_BYTES);
  assert.deepEqual(order(socket), [1]);
});

Deno.test("FrameQueue gives no turn to who has withdrawn, nor to anybody when the socket has ended", async () => {
  const { socket, queue } = open();
  const [flood, gone, waiting] = [1, 2, 3].map((id) => new Frames(queue, id, 50, 60_000)) as [Frames, Frames, Frames];
  queue.request(flood);
  queue.request(gone);
  queue.request(waiting);
  queue.withdraw(gone);
  await drained(socket);
  assert.equal(gone.left, 50);
  const sent = socket.sent.length;
  socket.end("connection lost");
  for (let turns = 0; turns < 5; turns++) await undefined;
  assert.equal(socket.sent.length, sent);
  assert.ok(flood.left > 0 && waiting.left > 0);
});

Deno.test("FrameQueue survives a source that asks again, or sends another's, during its turn", () => {
  const { socket, queue } = open();
  const inner = new Frames(queue, 2, 2, 10);
  let asked = false;
  queue.request({
    sendNext() {
      if (asked) return false;
      asked = true;
      queue.request(inner);
      queue.request(this);
      queue.send(new Uint8Array([1]));
      return false;
    },
  });
  assert.deepEqual(order(socket), [1, 2, 2]);
});
