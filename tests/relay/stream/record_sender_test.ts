import assert from "node:assert/strict";
import { type DataFrame, decodeFrame } from "../../../lib/relay/stream/frame.ts";
import { FrameQueue } from "../../../lib/relay/stream/frame_queue.ts";
import { MAX_RECORD_BYTES, MAX_SEQ } from "../../../lib/relay/limits.ts";
import { RecordError } from "../../../lib/relay/noise/record_cipher.ts";
import { RecordSender } from "../../../lib/relay/stream/record_sender.ts";
import { prefixed } from "../../../lib/relay/stream/records.ts";
import { MemorySocket } from "../support/memory_socket.ts";

/** Seals nothing, and takes its time where the test says so. */
class SlowCipher {
  seq: number;
  readonly pending: (() => void)[] = [];

  constructor(first = 0) {
    this.seq = first;
  }

  seal(plaintext: Uint8Array): Uint8Array<ArrayBuffer> | Promise<Uint8Array<ArrayBuffer>> {
    this.seq++;
    const record = new Uint8Array(plaintext);
    if (plaintext.length < MAX_RECORD_BYTES) return record;
    return new Promise((resolve) => this.pending.push(() => resolve(record)));
  }
}

function open(cipher: SlowCipher, socket = new MemorySocket(), queue = new FrameQueue(socket)) {
  const faults: string[] = [];
  const sender = new RecordSender({
    streamId: "stream",
    cipher,
    queue,
    sent() {},
    failed(error) {
      faults.push(error.fault);
      sender.end();
    },
  });
  const seqs = () => socket.sent.map((frame) => (decodeFrame(frame) as DataFrame).seq);
  return { socket, sender, faults, seqs };
}

async function settled(): Promise<void> {
  for (let turns = 0; turns < 10; turns++) await undefined;
}

Deno.test("RecordSender sends in order, whichever record is sealed first", async () => {
  const cipher = new SlowCipher();
  const { sender, seqs, socket } = open(cipher);
  sender.push(prefixed("a"));
  sender.push(prefixed("x".repeat(2 * MAX_RECORD_BYTES - 4)));
  sender.push(prefixed("b"));
  assert.deepEqual(seqs(), [0]);
  const [first, second] = cipher.pending;
  second!();
  await settled();
  assert.deepEqual(seqs(), [0]);
  first!();
  await settled();
  assert.deepEqual(seqs(), [0, 1, 2, 3]);
  assert.equal(sender.queuedBytes, 0);
  assert.equal(new TextDecoder().decode((decodeFrame(socket.sent[3]!) as DataFrame).payload).slice(4), "b");
});

Deno.test("RecordSender seals a few records ahead, not all", async () => {
  const cipher = new SlowCipher();
  const { sender, seqs } = open(cipher);
  sender.push(prefixed("x".repeat(20 * MAX_RECORD_BYTES)));
  const ahead = cipher.pending.length;
  assert.ok(ahead >= 4 && ahead <= 8, `${ahead}`);
  while (cipher.pending.length > 0) {
    cipher.pending.shift()!();
    await settled();
  }
  assert.deepEqual(seqs(), [...Array(21).keys()]);
});

Deno.test("RecordSender uses the last sequence number and then fails, without a second record of any number", () => {
  const { sender, faults, seqs } = open(new SlowCipher(MAX_SEQ - 1));
  sender.push(prefixed("a"));
  sender.push(prefixed("b"));
  assert.deepEqual(faults, []);
  sender.push(prefixed("c"));
  assert.deepEqual(faults, ["records used up"]);
  assert.deepEqual(seqs(), [MAX_SEQ - 1, MAX_SEQ]);
});

Deno.test("RecordSender sends the last frame after everything that is being sealed", async () => {
  const cipher = new SlowCipher();
  const { sender, socket } = open(cipher);
  sender.push(prefixed("x".repeat(MAX_RECORD_BYTES)));
  let done = 0;
  sender.finish(new Uint8Array([255]), () => done++);
  assert.equal(socket.sent.length, 0);
  cipher.pending[0]!();
  await settled();
  assert.equal(socket.sent.length, 3);
  assert.deepEqual([...socket.sent[2]!], [255]);
  assert.equal(done, 1);
});

Deno.test("RecordSender sends nothing after its end, although something is still being sealed", async () => {
  const cipher = new SlowCipher();
  const { sender, socket, faults } = open(cipher);
  sender.push(prefixed("x".repeat(3 * MAX_RECORD_BYTES)));
  let done = 0;
  sender.finish(new Uint8Array([255]), () => done++);
  sender.end();
  for (const finish of cipher.pending) finish();
  await settled();
  assert.deepEqual([socket.sent.length, sender.queuedBytes, done, faults], [0, 0, 0, []]);
});

Deno.test("RecordSender fails when a record cannot be sealed, at once or later, and sends nothing behind it", async () => {
  for (const failure of [() => assert.fail(new RecordError()), () => Promise.reject(new RecordError())]) {
    const cipher = new SlowCipher();
    const { sender, faults, seqs } = open(cipher);
    sender.push(prefixed("a"));
    cipher.seal = failure;
    sender.push(prefixed("b"));
    await settled();
    sender.push(prefixed("c"));
    assert.deepEqual([faults, seqs()], [["sealing failed"], [0]]);
  }
});

Deno.test("RecordSender takes room for what it seals, and gives it back when it ends", () => {
  const socket = new MemorySocket();
  const queue = new FrameQueue(socket);
  const floods = [1, 2, 3].map(() => open(new SlowCipher(), socket, queue).sender);
  for (const flood of floods) flood.push(prefixed("x".repeat(10 * MAX_RECORD_BYTES)));
  open(new SlowCipher(), socket, queue).sender.push(prefixed("a"));
  assert.equal(socket.sent.length, 0);
  for (const flood of floods) flood.end();
  assert.equal(socket.sent.length, 1);
});
