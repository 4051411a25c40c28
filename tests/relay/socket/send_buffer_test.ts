import assert from "node:assert/strict";
import { SendBuffer } from "../../../lib/relay/socket/send_buffer.ts";

async function isSettled(promise: Promise<unknown>): Promise<boolean> {
  const pending = Symbol();
  return await Promise.race([promise, Promise.resolve(pending)]) !== pending;
}

Deno.test("SendBuffer counts what was sent and not taken, and wakes those whose limit is reached", async () => {
  const buffer = new SendBuffer();
  const [first, second, third] = [buffer.add(10), buffer.add(20), buffer.add(30)];
  assert.equal(buffer.bytes, 60);
  const [half, empty] = [buffer.drainedTo(30), buffer.drainedTo(0)];
  assert.equal(await isSettled(buffer.drainedTo(60)), true);
  first!();
  assert.equal(await isSettled(half), false);
  second!();
  assert.equal(buffer.bytes, 30);
  await half;
  assert.equal(await isSettled(empty), false);
  third!();
  await empty;
});

Deno.test("SendBuffer lets nobody wait when it has ended", async () => {
  const buffer = new SendBuffer();
  const taken = buffer.add(10);
  const empty = buffer.drainedTo(0);
  buffer.end();
  await empty;
  taken();
  assert.equal(buffer.bytes, 0);
  await buffer.drainedTo(0);
});
