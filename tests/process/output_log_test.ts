import assert from "node:assert/strict";
import fc from "fast-check";
import type { StreamName } from "../../lib/process/child.ts";
import { type OutputChunk, OutputLog } from "../../lib/process/output_log.ts";

/** The same promises, kept the simplest way. */
class NaiveLog {
  chunks: OutputChunk[] = [];
  constructor(readonly limitBytes: number, readonly limitChunks: number) {}

  append(seq: number, stream: StreamName, bytes: Uint8Array<ArrayBuffer>): void {
    this.chunks.push({ seq, stream, bytes: bytes.slice() });
    while (this.byteLength > this.limitBytes || this.chunks.length > this.limitChunks) this.chunks.shift();
  }
  get byteLength(): number {
    return this.chunks.reduce((sum, chunk) => sum + chunk.bytes.length, 0);
  }
  after(seq: number, maxBytes: number | null): OutputChunk[] {
    const taken: OutputChunk[] = [];
    let sum = 0;
    for (const chunk of this.chunks.filter((chunk) => chunk.seq > seq)) {
      if (maxBytes !== null && taken.length > 0 && sum + chunk.bytes.length > maxBytes) break;
      taken.push(chunk);
      sum += chunk.bytes.length;
      if (maxBytes !== null && sum >= maxBytes) break;
    }
    return taken;
  }
  contents(stream?: StreamName): number[] {
    return this.chunks.filter((chunk) => stream === undefined || chunk.stream === stream)
      .flatMap((chunk) => [...chunk.bytes]);
  }
}

const append = fc.record({
  skip: fc.integer({ min: 1, max: 3 }),
  stream: fc.constantFrom<StreamName>("stdout", "stderr", "pty"),
  bytes: fc.uint8Array({ minLength: 1, maxLength: 40 }).map((bytes) => Uint8Array.from(bytes)),
});

Deno.test("OutputLog keeps, forgets and finds exactly what a naive list would", () => {
  fc.assert(
    fc.property(
      fc.integer({ min: 40, max: 400 }),
      fc.integer({ min: 1, max: 40 }),
      fc.array(append, { maxLength: 150 }),
      fc.array(fc.tuple(fc.nat(400), fc.option(fc.nat(120))), { maxLength: 8 }),
      (limitBytes, limitChunks, appends, queries) => {
        const log = new OutputLog(limitBytes, limitChunks);
        const naive = new NaiveLog(limitBytes, limitChunks);
        let seq = 0;
        for (const { skip, stream, bytes } of appends) {
          seq += skip;
          log.append(seq, stream, bytes);
          naive.append(seq, stream, bytes);
          assert.equal(log.byteLength, naive.byteLength);
          assert.equal(log.chunkCount, naive.chunks.length);
          assert.equal(log.lastSeq, seq);
        }
        for (const [after, maxBytes] of queries) {
          assert.deepEqual(log.after(after, maxBytes), naive.after(after, maxBytes));
        }
        for (const stream of [undefined, "stdout", "stderr", "pty"] as const) {
          assert.deepEqual([...log.contents(stream)], naive.contents(stream));
        }
      },
    ),
    { numRuns: 300 },
  );
});

Deno.test("OutputLog keeps exactly one mebibyte of full chunks", () => {
  const log = new OutputLog();
  const chunk = new Uint8Array(64 * 1024);
  for (let seq = 1; seq <= 16; seq++) log.append(seq, "stdout", chunk);
  assert.equal(log.byteLength, 1_048_576);
  log.append(17, "stdout", chunk.subarray(0, 1));
  assert.equal(log.byteLength, 15 * 64 * 1024 + 1);
  assert.equal(log.after(0)[0]?.seq, 2);
});

Deno.test("OutputLog keeps exactly fifty thousand chunks of one byte", () => {
  const log = new OutputLog();
  for (let seq = 1; seq <= 120_001; seq++) log.append(seq, "pty", Uint8Array.of(seq));
  assert.equal(log.chunkCount, 50_000);
  assert.deepEqual(log.after(0, 1), [{ seq: 70_002, stream: "pty", bytes: Uint8Array.of(70_002 % 256) }]);
});

Deno.test("OutputLog gives copies that later output does not change", () => {
  const log = new OutputLog(8, 8);
  log.append(1, "stdout", Uint8Array.of(1, 2, 3, 4, 5, 6, 7, 8));
  const [chunk] = log.after(0);
  log.append(2, "stdout", Uint8Array.of(9, 9, 9, 9, 9, 9, 9, 9));
  assert.deepEqual(chunk?.bytes, Uint8Array.of(1, 2, 3, 4, 5, 6, 7, 8));
});

Deno.test("OutputLog names what it was given when that cannot be kept", () => {
  assert.throws(() => new OutputLog(0), {
    name: "RangeError",
    message: "limitBytes must be a positive integer, got 0",
  });
  assert.throws(() => new OutputLog(1, 1.5), { message: "limitChunks must be a positive integer, got 1.5" });
  const log = new OutputLog(4);
  assert.throws(() => log.append(1, "pty", new Uint8Array(5)), {
    message: "a chunk of 5 bytes exceeds the limit of 4 bytes",
  });
  log.append(3, "pty", new Uint8Array(1));
  assert.throws(() => log.append(3, "pty", new Uint8Array(1)), { message: "chunk 3 does not follow chunk 3" });
});
