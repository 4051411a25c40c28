import assert from "node:assert/strict";
import { silentLog } from "../../../lib/log.ts";
import * as libc from "../../../lib/linux/libc.ts";
import { MAX_CHUNK_BYTES } from "../../../lib/process/child.ts";
import { OutputReader } from "../../../lib/process/linux/output_reader.ts";
import { Poller, type Watch } from "../../../lib/linux/poller.ts";
import { bytes } from "../../support/linux.ts";
import { ManualClock } from "../../support/manual_clock.ts";

const F_SETPIPE_SZ = 1031;

/** A reader at one end of a pipe; the test writes into the other and says when it is readable. */
class Scene implements AsyncDisposable {
  readonly clock = new ManualClock();
  readonly #poller = new Poller(silentLog);
  readonly #decoder = new TextDecoder();
  readonly writing: number;
  readonly reader: OutputReader;
  readonly #watch: Watch;
  readonly chunks: string[] = [];
  accept = true;
  onChunk = (): void => {};
  ended = 0;
  #open = true;

  constructor() {
    const ends = libc.pipe(libc.O_CLOEXEC | libc.O_NONBLOCK);
    if (typeof ends === "number") throw new Error(`errno ${-ends}`);
    this.writing = ends[1];
    this.#watch = this.#poller.watch(ends[0], {}); // what the kernel says is heard by nobody
    this.reader = new OutputReader({
      watch: this.#watch,
      terminal: false,
      clock: this.clock,
      deliver: (chunk) => {
        this.chunks.push(this.#decoder.decode(chunk));
        this.onChunk();
        return this.accept;
      },
      ended: () => {
        this.ended++;
        this.#watch.close();
      },
    });
    this.reader.start();
  }

  /** Whether the reader wants to be told when there is something. */
  listens(): boolean {
    return this.#watch.reading;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.reader.cut();
    this.#watch.close();
    if (this.#open) libc.close(this.writing);
    this.#poller[Symbol.dispose]();
    await this.#poller.idle();
  }

  /** Makes room for 1 MiB in the pipe. */
  enlarge(): void {
    assert.ok(libc.symbols.fcntl(this.writing, F_SETPIPE_SZ, 1024 * 1024) >= 1024 * 1024);
  }

  /** The program says something, and the reader is told. */
  say(text: string): void {
    assert.equal(libc.write(this.writing, bytes(text)), text.length);
    assert.equal(this.listens(), true);
    this.reader.readable();
  }

  end(): void {
    libc.close(this.writing);
    this.#open = false;
  }
}

Deno.test("OutputReader gathers a stream of tiny writes for a millisecond", async () => {
  await using scene = new Scene();
  scene.say("a");
  assert.equal(scene.listens(), true);
  scene.clock.advance(1);
  scene.say("b");
  assert.equal(scene.listens(), false);
  scene.clock.advance(1);
  assert.equal(scene.listens(), true);
  assert.deepEqual(scene.chunks, ["a", "b"]);
});

Deno.test("OutputReader does not gather writes that are two milliseconds apart, nor large ones", async () => {
  await using scene = new Scene();
  for (let turn = 0; turn < 3; turn++) {
    scene.say("a");
    assert.equal(scene.listens(), true);
    scene.clock.advance(2);
  }
  for (let turn = 0; turn < 3; turn++) {
    scene.say("x".repeat(2048));
    assert.equal(scene.listens(), true);
  }
});

Deno.test("OutputReader does not gather what may be an answer, for 20 ms after a write to the program", async () => {
  await using scene = new Scene();
  scene.say("a");
  scene.say("b");
  assert.equal(scene.listens(), false);
  scene.reader.expectAnswer();
  assert.equal(scene.listens(), true);
  assert.equal(scene.clock.pendingTimers, 0);
  scene.say("c");
  scene.clock.advance(19);
  scene.say("d");
  scene.clock.advance(1);
  scene.say("e");
  assert.equal(scene.listens(), true);
  scene.clock.advance(1);
  scene.say("f");
  assert.equal(scene.listens(), false);
});

Deno.test("OutputReader delivers chunks of at most 64 KiB and stops after about 128 KiB a turn", async () => {
  await using scene = new Scene();
  scene.enlarge();
  const count = 512 * 1024;
  assert.equal(libc.write(scene.writing, new Uint8Array(count)), count);
  const lengths = () => scene.chunks.map((chunk) => chunk.length);
  scene.reader.readable();
  assert.deepEqual(lengths(), [MAX_CHUNK_BYTES, MAX_CHUNK_BYTES]);
  while (lengths().reduce((sum, length) => sum + length, 0) < count) scene.reader.readable();
  assert.ok(Math.max(...lengths()) <= MAX_CHUNK_BYTES);
});

Deno.test("OutputReader stops reading when its chunk is refused, until it is resumed", async () => {
  await using scene = new Scene();
  scene.accept = false;
  scene.say("a");
  assert.equal(scene.listens(), false);
  scene.reader.readable(); // an event that was on its way
  libc.write(scene.writing, bytes("b"));
  scene.reader.readable();
  assert.deepEqual(scene.chunks, ["a"]);
  scene.reader.resume();
  assert.equal(scene.listens(), true);
  scene.reader.readable();
  assert.deepEqual(scene.chunks, ["a", "b"]);
  assert.equal(scene.listens(), false);
});

Deno.test("OutputReader drains what is there even while paused, and sees the end", async () => {
  await using scene = new Scene();
  scene.accept = false;
  scene.say("a");
  libc.write(scene.writing, bytes("b"));
  scene.reader.drain();
  assert.deepEqual([scene.chunks, scene.ended], [["a", "b"], 0]);
  scene.end();
  scene.reader.drain();
  assert.deepEqual([scene.chunks, scene.ended], [["a", "b"], 1]);
  scene.reader.drain();
  scene.reader.resume();
  assert.equal(scene.ended, 1);
});

Deno.test("OutputReader drains about what was there and no more when others go on writing", async () => {
  await using scene = new Scene();
  scene.enlarge();
  libc.write(scene.writing, new Uint8Array(100_000));
  scene.onChunk = () => libc.write(scene.writing, new Uint8Array(MAX_CHUNK_BYTES));
  scene.reader.drain();
  const total = scene.chunks.reduce((sum, chunk) => sum + chunk.length, 0);
  assert.ok(total >= 100_000 && total <= 100_000 + MAX_CHUNK_BYTES);
});

Deno.test("OutputReader tells the end after the last bytes, once", async () => {
  await using scene = new Scene();
  libc.write(scene.writing, bytes("last"));
  scene.end();
  scene.reader.readable();
  assert.deepEqual([scene.chunks, scene.ended], [["last"], 1]);
});

Deno.test("OutputReader that is cut off says nothing any more", async () => {
  await using scene = new Scene();
  libc.write(scene.writing, bytes("a"));
  scene.reader.cut();
  scene.reader.readable();
  scene.reader.drain();
  scene.reader.resume();
  assert.deepEqual([scene.chunks, scene.ended, scene.listens()], [[], 0, false]);
});
