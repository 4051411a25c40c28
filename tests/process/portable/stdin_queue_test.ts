import assert from "node:assert/strict";
import { STDIN_QUEUE_CHUNKS } from "../../../lib/process/child.ts";
import { StdinQueue } from "../../../lib/process/portable/stdin_queue.ts";

const never = new AbortController().signal;
const chunk = (text: string) => new TextEncoder().encode(text);

/** A queue in front of a program that reads when a test says so. */
function stage() {
  const written: string[] = [];
  const pending: (() => void)[] = [];
  const queue = new StdinQueue((bytes, done) => {
    written.push(new TextDecoder().decode(bytes));
    pending.push(done);
  }, () => written.push("END"));
  return { queue, written, readOne: () => pending.shift()?.() };
}

Deno.test("StdinQueue writes one chunk at a time, in order", () => {
  const { queue, written, readOne } = stage();
  for (const text of ["a", "b", "c"]) assert.equal(queue.push(chunk(text), never), undefined);
  assert.deepEqual(written, ["a"]);
  readOne();
  assert.deepEqual(written, ["a", "b"]);
  readOne();
  readOne();
  queue.push(chunk("d"), never);
  assert.deepEqual(written, ["a", "b", "c", "d"]);
});

Deno.test("StdinQueue holds 128 chunks behind the one being written and lets further writers wait in line", async () => {
  const { queue, written, readOne } = stage();
  for (let i = 0; i <= STDIN_QUEUE_CHUNKS; i++) assert.equal(queue.push(chunk(`${i}`), never), undefined);
  const order: string[] = [];
  const waiting = ["x", "y"].map((text) => queue.push(chunk(text), never)?.then(() => order.push(text)));
  assert.ok(waiting.every((promise) => promise instanceof Promise));
  readOne();
  await waiting[0];
  assert.deepEqual(order, ["x"]);
  readOne();
  await waiting[1];
  for (let i = 0; i <= STDIN_QUEUE_CHUNKS; i++) readOne();
  assert.deepEqual(written.slice(-3), [`${STDIN_QUEUE_CHUNKS}`, "x", "y"]);
});

Deno.test("a writer who stops waiting has written nothing", async () => {
  const { queue, written, readOne } = stage();
  for (let i = 0; i <= STDIN_QUEUE_CHUNKS; i++) queue.push(chunk("."), never);
  const abort = new AbortController();
  const waiting = queue.push(chunk("x"), abort.signal);
  abort.abort(new Error("gone"));
  await assert.rejects(async () => await waiting, { message: "gone" });
  await assert.rejects(async () => await queue.push(chunk("x"), abort.signal), { message: "gone" });
  for (let i = 0; i <= STDIN_QUEUE_CHUNKS; i++) readOne();
  assert.equal(written.join(""), ".".repeat(STDIN_QUEUE_CHUNKS + 1));
});

Deno.test("StdinQueue ends behind everything that came before, those included who wait, and takes no more", async () => {
  const { queue, written, readOne } = stage();
  for (let i = 0; i <= STDIN_QUEUE_CHUNKS; i++) queue.push(chunk("."), never);
  const waiting = queue.push(chunk("x"), never);
  queue.end();
  queue.end();
  assert.equal(queue.push(chunk("y"), never), undefined);
  for (let i = 0; i <= STDIN_QUEUE_CHUNKS; i++) readOne();
  await waiting;
  assert.equal(written.at(-1), "x");
  readOne();
  assert.equal(written.join(""), `${".".repeat(STDIN_QUEUE_CHUNKS + 1)}xEND`);
  const empty = stage();
  empty.queue.end();
  assert.deepEqual(empty.written, ["END"]);
  const closed = stage();
  closed.queue.close();
  closed.queue.end();
  assert.deepEqual(closed.written, []);
});

Deno.test("a closed queue takes everything and writes nothing", async () => {
  const { queue, written, readOne } = stage();
  for (let i = 0; i <= STDIN_QUEUE_CHUNKS; i++) queue.push(chunk("."), never);
  const waiting = queue.push(chunk("x"), never);
  queue.close();
  await waiting;
  assert.equal(queue.push(chunk("y"), never), undefined);
  readOne();
  assert.deepEqual(written, ["."]);
});
