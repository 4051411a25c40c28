import assert from "node:assert/strict";
import {
  type ByteSink,
  type ByteSource,
  MAX_LINE_BYTES,
  STDIO_HIGH_WATER_BYTES,
  stdioConnection,
} from "../../lib/rpc/stdio.ts";
import { Recorder } from "../support/recorder.ts";

const encoder = new TextEncoder();
const decoder = new TextDecoder();
const silence: ByteSource = { read: () => new Promise(() => {}) };

/** A source that a test feeds, a read at a time. */
class Input implements ByteSource {
  readonly #chunks: (Uint8Array | null)[] = [];
  #wake: (() => void) | undefined;
  reads = 0;

  feed(...chunks: (string | Uint8Array | null)[]): void {
    this.#chunks.push(...chunks.map((chunk) => typeof chunk === "string" ? encoder.encode(chunk) : chunk));
    this.#wake?.();
  }

  async read(into: Uint8Array): Promise<number | null> {
    this.reads++;
    while (this.#chunks.length === 0) await new Promise<void>((resolve) => this.#wake = resolve);
    const chunk = this.#chunks.shift()!;
    if (chunk === null) return null;
    const count = Math.min(chunk.length, into.length);
    into.set(chunk.subarray(0, count));
    if (count < chunk.length) this.#chunks.unshift(chunk.subarray(count));
    return count;
  }
}

/** A sink that takes `stepBytes` at a time, and nothing while it is shut. */
class Output implements ByteSink {
  text = "";
  writes = 0;
  failure: Error | undefined;
  #gate = Promise.withResolvers<void>();

  constructor(readonly stepBytes = Infinity, open = true) {
    if (open) this.#gate.resolve();
  }

  open(): void {
    this.#gate.resolve();
  }

  async write(bytes: Uint8Array): Promise<number> {
    this.writes++;
    await this.#gate.promise;
    if (this.failure !== undefined) throw this.failure;
    const count = Math.min(bytes.length, this.stepBytes);
    this.text += decoder.decode(bytes.subarray(0, count), { stream: true });
    return count;
  }
}

Deno.test("stdioConnection says what the reference calls it", () => {
  const connection = stdioConnection(silence, new Output());
  assert.equal(connection.label, "exec-server stdio");
  assert.equal(connection.malformedPrefix, "failed to parse JSON-RPC message from exec-server stdio: ");
});

Deno.test("stdioConnection takes a line a message, with a last one that has no newline, and then ends", async () => {
  const input = new Input();
  const received = new Recorder(stdioConnection(input, new Output()));
  input.feed('{"a"', ":1}\r\n\n  \n{}", "\nlast", null);
  assert.equal(await received.end(), "end of input");
  assert.deepEqual(received.messages, ['{"a":1}', "{}", "last"]);
});

Deno.test("stdioConnection ends at a line that is not UTF-8 and takes nothing behind it", async () => {
  const input = new Input();
  const received = new Recorder(stdioConnection(input, new Output()));
  input.feed("good\n", new Uint8Array([0xff, 0x0a]), "after\n");
  assert.equal(await received.end(), "stdin: a line that is not UTF-8");
  assert.deepEqual(received.messages, ["good"]);
});

Deno.test("stdioConnection takes a line of exactly 64 MiB and ends at one byte more", async () => {
  const input = new Input();
  const received = new Recorder(stdioConnection(input, new Output()));
  input.feed(new Uint8Array(MAX_LINE_BYTES).fill(0x61), "\n", new Uint8Array(MAX_LINE_BYTES + 1).fill(0x61));
  assert.equal(await received.end(), "stdin: a line of more than 67108864 bytes");
  assert.deepEqual(received.messages.map(({ length }) => length), [MAX_LINE_BYTES]);
});

Deno.test("stdioConnection ends when its input fails", async () => {
  const broken: ByteSource = { read: () => Promise.reject(new Error("gone")) };
  assert.equal(await new Recorder(stdioConnection(broken, new Output())).end(), "stdin: gone");
});

Deno.test("stdioConnection reads no further while the receiver asks it to wait", async () => {
  const input = new Input();
  const gate = Promise.withResolvers<void>();
  const received = new Recorder(stdioConnection(input, new Output()));
  received.onMessage = () => gate.promise;
  input.feed("a\nb\n", "c\n", null);
  await received.received(1);
  assert.deepEqual([received.messages, input.reads], [["a"], 1]);
  gate.resolve();
  await received.end();
  assert.deepEqual(received.messages, ["a", "b", "c"]);
});

Deno.test("stdioConnection writes messages in order, and those of one turn together", async () => {
  const output = new Output();
  const connection = stdioConnection(silence, output);
  for (const message of ["a", "bé", "c"]) connection.send(message);
  await connection.flushed();
  assert.equal(output.text, "a\nbé\nc\n");
  assert.equal(output.writes, 1);
});

Deno.test("stdioConnection writes all of it to a reader that takes three bytes at a time", async () => {
  const output = new Output(3);
  const connection = stdioConnection(silence, output);
  const messages = Array.from({ length: 50 }, (_, i) => `message ${i}`);
  for (const message of messages) {
    connection.send(message);
    await undefined;
  }
  await connection.flushed();
  assert.equal(output.text, messages.map((message) => message + "\n").join(""));
});

Deno.test("stdioConnection writes small and large messages of one, two and three bytes a character unharmed", async () => {
  const output = new Output(100_000);
  const connection = stdioConnection(silence, output);
  const messages = [
    "a",
    "é",
    "語",
    "a語".repeat(90_000),
    "x",
    "語".repeat(700_000),
    "é".repeat(3_000),
    "a".repeat(200_000),
  ];
  for (const message of messages) connection.send(message);
  await connection.flushed();
  connection.send("again");
  await connection.flushed();
  assert.equal(output.text, [...messages, "again"].map((message) => message + "\n").join(""));
});

Deno.test("stdioConnection is congested while nobody reads, and drains when somebody does", async () => {
  const output = new Output(64 * 1024, false);
  const connection = stdioConnection(silence, output);
  connection.send("x".repeat(STDIO_HIGH_WATER_BYTES - 1));
  assert.equal(connection.congested, false);
  await connection.drained();
  connection.send("");
  assert.equal(connection.congested, true);
  const drained = connection.drained();
  output.open();
  await drained;
  assert.equal(connection.congested, false);
  await connection.flushed();
  assert.equal(output.text.length, STDIO_HIGH_WATER_BYTES + 1);
});

Deno.test("stdioConnection ends when its output fails, and a waiting producer goes on", async () => {
  const output = new Output(Infinity, false);
  const connection = stdioConnection(silence, output);
  const received = new Recorder(connection);
  connection.send("x".repeat(STDIO_HIGH_WATER_BYTES));
  const drained = connection.drained();
  output.failure = new Error("Broken pipe");
  output.open();
  assert.equal(await received.end(), "stdout: Broken pipe");
  await drained;
  connection.send("dropped");
  await connection.flushed();
  assert.equal(output.text, "");
});

Deno.test("stdioConnection still writes what was sent before it was closed, and ends once", async () => {
  const output = new Output(4, false);
  const connection = stdioConnection(silence, output);
  const received = new Recorder(connection);
  connection.send("farewell");
  connection.close(1002, "protocol violation");
  connection.close();
  connection.send("too late");
  assert.deepEqual(received.ends, [{ reason: "protocol violation" }]);
  output.open();
  await connection.flushed();
  assert.equal(output.text, "farewell\n");
});

Deno.test("stdioConnection delivers nothing after it was closed", async () => {
  const input = new Input();
  const connection = stdioConnection(input, new Output());
  const received = new Recorder(connection);
  received.onMessage = () => connection.close();
  input.feed("a\nb\n", null);
  await received.end();
  await new Promise((resolve) => setTimeout(resolve));
  assert.deepEqual(received.messages, ["a"]);
  assert.equal(received.ends.length, 1);
});

Deno.test("stdioConnection writes at once what a sink takes at once, and queues the rest behind it", async () => {
  const output = Object.assign(new Output(), {
    writeNow(bytes: Uint8Array): number {
      const count = Math.min(bytes.length, 4);
      output.text += decoder.decode(bytes.subarray(0, count));
      return count;
    },
  });
  const connection = stdioConnection(silence, output);
  connection.send("abc");
  assert.equal(output.text, "abc\n");
  connection.send("defghi");
  connection.send("j");
  assert.equal(output.text, "abc\ndefg");
  await connection.flushed();
  assert.equal(output.text, "abc\ndefghi\nj\n");
  connection.send("k");
  assert.equal(output.text, "abc\ndefghi\nj\nk\n");
});

Deno.test("stdioConnection leaves large messages to the thread that waits for the reader", async () => {
  let prompt = 0;
  const output = Object.assign(new Output(), { writeNow: () => (prompt++, 0) });
  const connection = stdioConnection(silence, output);
  connection.send("x".repeat(4096));
  await connection.flushed();
  assert.equal(prompt, 0);
  connection.send("x".repeat(4095));
  await connection.flushed();
  assert.equal(prompt, 1);
  assert.equal(output.text.length, 4097 + 4096);
});
