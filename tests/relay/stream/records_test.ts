import assert from "node:assert/strict";
import { Buffer } from "node:buffer";
import fc from "fast-check";
import { AssemblyBudget } from "../../../lib/relay/stream/assembly_budget.ts";
import { MAX_MESSAGE_BYTES, MAX_RECORD_BYTES } from "../../../lib/relay/limits.ts";
import { MessageAssembler, prefixed, recordAt } from "../../../lib/relay/stream/records.ts";

function bytes(...values: number[]): Uint8Array<ArrayBuffer> {
  return new Uint8Array(values);
}

function pieces(message: string | Uint8Array): Uint8Array<ArrayBuffer>[] {
  const whole = prefixed(message);
  const found = [];
  for (let at = 0; at < whole.length; at += MAX_RECORD_BYTES) found.push(recordAt(whole, at));
  return found;
}

Deno.test("prefixed() puts the length before the UTF-8 of a text", () => {
  assert.deepEqual([...prefixed("{}")], [0, 0, 0, 2, 0x7b, 0x7d]);
  assert.deepEqual([...prefixed("é")], [0, 0, 0, 2, 0xc3, 0xa9]);
  assert.deepEqual([...prefixed(bytes(7))], [0, 0, 0, 1, 7]);
  assert.deepEqual([...prefixed("\ud800")], [0, 0, 0, 3, 0xef, 0xbf, 0xbd]);
});

Deno.test("prefixed() encodes any text as the platform does", () => {
  fc.assert(fc.property(fc.string({ unit: "binary", minLength: 1, maxLength: 300 }), (text) => {
    assert.deepEqual(prefixed(text).subarray(4), new TextEncoder().encode(text));
  }));
});

Deno.test("prefixed() refuses an empty message and one above 64 MiB, also one that is so only as UTF-8", () => {
  const refusal = { name: "StreamError", fault: "message to send is empty or too large" };
  assert.throws(() => prefixed(""), refusal);
  assert.throws(() => prefixed(bytes()), refusal);
  assert.throws(() => prefixed("x".repeat(MAX_MESSAGE_BYTES + 1)), refusal);
  assert.throws(() => prefixed("é".repeat(MAX_MESSAGE_BYTES / 2) + "x"), refusal);
  assert.equal(prefixed("é".repeat(MAX_MESSAGE_BYTES / 2)).length, 4 + MAX_MESSAGE_BYTES);
});

Deno.test("The first record has room for 61436 bytes of a message, each other one for 61440", () => {
  assert.deepEqual(pieces("x".repeat(61_436)).map(({ length }) => length), [61_440]);
  assert.deepEqual(pieces("x".repeat(61_437)).map(({ length }) => length), [61_440, 1]);
  assert.deepEqual(pieces("x".repeat(61_436 + 61_440 + 1)).map(({ length }) => length), [61_440, 61_440, 1]);
});

Deno.test("MessageAssembler finds the same messages, however they are cut into records", () => {
  const message = fc.uint8Array({ minLength: 1, maxLength: 40 });
  fc.assert(fc.property(fc.array(message), fc.array(fc.nat(30)), (messages, cuts) => {
    const budget = new AssemblyBudget();
    const assembler = new MessageAssembler(budget);
    const stream = new Uint8Array(messages.flatMap((body) => [...prefixed(body)]));
    const got: Uint8Array[] = [];
    let at = 0;
    for (const cut of [...cuts, stream.length]) {
      got.push(...assembler.push(stream.slice(at, at + cut)));
      at += cut;
    }
    assert.deepEqual(got.map((body) => [...body]), messages.map((body) => [...body]));
    assembler[Symbol.dispose]();
    assert.equal(budget.heldBytes, 0);
  }));
});

Deno.test("MessageAssembler refuses a length of 0 and one above 64 MiB at its last byte, and gives what came before", () => {
  for (const length of [[0, 0, 0, 0], [4, 0, 0, 1], [255, 255, 255, 255]]) {
    const records = new MessageAssembler(new AssemblyBudget()).push(bytes(0, 0, 0, 1, 65, ...length));
    assert.deepEqual(records.next().value, bytes(65));
    assert.throws(() => records.next(), { fault: "bad message length" });
  }
});

Deno.test("MessageAssembler believes a length of 64 MiB without taking memory for it", () => {
  const budget = new AssemblyBudget();
  const assembler = new MessageAssembler(budget);
  assert.deepEqual([...assembler.push(bytes(4, 0, 0, 0))], []);
  assert.equal(budget.heldBytes, 0);
  assert.deepEqual([...assembler.push(bytes(1))], []);
  assert.equal(budget.heldBytes, 64 * 1024);
  assert.deepEqual([...assembler.push(new Uint8Array(61_440))], []);
  assert.deepEqual([...assembler.push(new Uint8Array(61_440))], []);
  assert.equal(budget.heldBytes, 128 * 1024);
});

Deno.test("MessageAssembler puts a message of 64 MiB together", () => {
  const budget = new AssemblyBudget();
  const assembler = new MessageAssembler(budget);
  const body = new Uint8Array(MAX_MESSAGE_BYTES);
  for (let at = 0; at < body.length; at += 4096) body[at] = at / 4096;
  let got: Uint8Array[] = [];
  for (const piece of pieces(body)) got = [...got, ...assembler.push(piece)];
  assert.deepEqual(got.map((message) => Buffer.compare(message, body)), [0]);
  assert.equal(budget.heldBytes, 0);
});

Deno.test("MessageAssembler stops where the budget is used up", () => {
  const budget = new AssemblyBudget(100_000);
  const assembler = new MessageAssembler(budget);
  const [first, second] = pieces("x".repeat(110_000));
  assert.deepEqual([...assembler.push(first!)], []);
  assert.throws(() => [...assembler.push(second!)], { fault: "too much held" });
  assembler[Symbol.dispose]();
  assert.equal(budget.heldBytes, 0);
});

Deno.test("MessageAssembler does not hand out a small view of a large record", () => {
  const record = new Uint8Array([...prefixed("a"), ...prefixed("x".repeat(5000))]);
  const [small, large] = [...new MessageAssembler(new AssemblyBudget()).push(record)];
  assert.equal(small!.buffer.byteLength, 1);
  assert.ok(large!.buffer === record.buffer);
});
