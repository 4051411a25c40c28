import assert from "node:assert/strict";
import type { ProcessEvent } from "../../lib/client/process.ts";
import { idle } from "../support/scripted_server.ts";
import { closed, exited, output, readOf } from "./support/events.ts";
import { ProcessClient } from "./support/process_client.ts";

function eventsOf(process: AsyncIterable<ProcessEvent>): Promise<ProcessEvent[]> {
  return Array.fromAsync(process);
}

Deno.test("what a process did during an outage is fetched once and in order", async () => {
  await using client = await ProcessClient.connect();
  const process = await client.start();
  const line = [output(1, "a"), output(2, "b"), exited(3, 0), output(4, "c"), closed(5)];
  client.tell(line.slice(0, 1));
  await idle();
  await client.reconnect();
  await client.answerRead(1, readOf(line, 1));
  assert.deepEqual(await eventsOf(process), line);
});

Deno.test("events that come on the new connection during the replay are told once", async () => {
  await using client = await ProcessClient.connect();
  const process = await client.start();
  const line = [output(1, "a"), output(2, "b"), output(3, "c"), exited(4), closed(5)];
  await client.reconnect();
  client.tell(line.slice(2));
  await client.answerRead(0, readOf(line.slice(0, 4)));
  client.tell(line.slice(3));
  assert.deepEqual(await eventsOf(process), line);
});

Deno.test("a lively process may say more than 256 things before the answer to the replay is here", async () => {
  await using client = await ProcessClient.connect();
  const process = await client.start();
  const line: ProcessEvent[] = [];
  for (let seq = 1; seq <= 1000; seq++) line.push(output(seq, `${seq}`));
  await client.reconnect();
  client.tell(line.slice(10));
  await client.answerRead(0, readOf(line.slice(0, 10)));
  client.tell([exited(1001), closed(1002)]);
  assert.equal((await eventsOf(process)).length, 1002);
});

Deno.test("processes are replayed one after the other, and calls wait until the last is done", async () => {
  await using client = await ProcessClient.connect();
  await client.start("one");
  await client.start("two");
  await client.reconnect();
  const terminated = client.processes.get("two")!.terminate();
  const { id, params } = await client.far.request("process/read");
  assert.equal(params.processId, "one");
  await idle();
  assert.deepEqual(client.far.unread, []);
  client.far.answer(id, { chunks: [], nextSeq: 1, exited: false, exitCode: null, closed: false });
  await client.answerRead(0, readOf([]), "two");
  const terminate = await client.far.request("process/terminate");
  client.far.answer(terminate.id, { running: true });
  assert.equal(await terminated, true);
});

Deno.test("a process whose events are gone fails alone and is terminated; the others go on", async () => {
  await using client = await ProcessClient.connect();
  const [bad, good] = [await client.start("bad"), await client.start("good")];
  await client.reconnect();
  const gap = readOf(Array.from({ length: 10 }, (_, at) => output(at + 1, "x")), 0, 5);
  await client.answerRead(0, gap, "bad");
  const { id, params } = await client.far.request("process/terminate");
  assert.deepEqual(params, { processId: "bad" });
  client.far.answer(id, { running: true });
  await client.answerRead(0, readOf([output(1, "a")]), "good");
  const failure = {
    kind: "protocol",
    message: "failed to recover process bad: exec-server protocol error: process events are no longer retained while " +
      "recovering through sequence 10",
  };
  await assert.rejects(eventsOf(bad), failure);
  await assert.rejects(bad.exited, failure);
  await assert.rejects(bad.closed, failure);
  assert.equal((await bad.read()).failure, failure.message);
  client.tell([exited(2), closed(3)], "good");
  assert.equal((await eventsOf(good)).length, 3);
});

Deno.test("a process that the server has forgotten fails with its words", async () => {
  await using client = await ProcessClient.connect();
  const process = await client.start();
  await client.reconnect();
  const read = await client.far.request("process/read");
  client.far.refuse(read.id, -32600, "unknown process id p");
  const terminate = await client.far.request("process/terminate");
  client.far.refuse(terminate.id, -32603, "no");
  await assert.rejects(process.closed, {
    message: "failed to recover process p: exec-server rejected request (-32600): unknown process id p",
  });
  await idle();
  assert.equal(client.core.state, "connected");
});

Deno.test("an outage during the replay, at the read or at the clean-up, is followed by another attempt", async () => {
  await using client = await ProcessClient.connect();
  const [bad, good] = [await client.start("bad"), await client.start("good")];
  await client.reconnect();
  await client.far.request("process/read");
  const next = client.reconnect();
  await idle();
  client.clock.advance(100);
  await next;
  const gap = readOf([output(1, "x"), output(2, "x")], 0, 2);
  await client.answerRead(0, gap, "bad");
  await client.far.request("process/terminate");
  const last = client.reconnect();
  await idle();
  client.clock.advance(100);
  await last;
  await client.answerRead(0, readOf([output(1, "a"), exited(2), closed(3)]), "bad");
  await client.answerRead(0, readOf([]), "good");
  assert.equal((await eventsOf(bad)).length, 3, "what did not fit left no trace");
  await idle();
  client.tell([exited(1), closed(2)], "good");
  await good.closed;
});

Deno.test("a lively process is waited for anew in each attempt, also when an earlier one had caught up with it", async () => {
  await using client = await ProcessClient.connect();
  const lively = await client.start("lively");
  await client.start("other");
  const line: ProcessEvent[] = [];
  for (let seq = 1; seq <= 1000; seq++) line.push(output(seq, `${seq}`));
  await client.reconnect();
  await client.answerRead(0, readOf(line.slice(0, 10)), "lively");
  await client.far.request("process/read");
  const next = client.reconnect();
  await idle();
  client.clock.advance(100);
  await next;
  client.tell(line.slice(20), "lively");
  await client.answerRead(10, readOf(line.slice(0, 20), 10), "lively");
  await client.answerRead(0, readOf([]), "other");
  client.tell([exited(1001), closed(1002)], "lively");
  assert.equal((await eventsOf(lively)).length, 1002);
});

Deno.test("a replay that is too slow is cut off with the recovery", async () => {
  await using client = await ProcessClient.connect();
  const process = await client.start();
  await client.reconnect();
  await client.far.request("process/read");
  client.clock.advance(50_000);
  await assert.rejects(process.closed, (error: Error) => {
    assert.match(error.message, /; failed to resume exec-server session: recovery timed out after 50s$/);
    return true;
  });
});

Deno.test("when no connection comes any more every process fails with the same error, and so does what is new", async () => {
  await using client = await ProcessClient.connect({ resumable: false });
  const [one, two] = [await client.start("one"), await client.start("two")];
  const iteration = eventsOf(one);
  const reading = two.read({ afterSeq: 0, waitMs: 60_000 });
  await client.far.request("process/read");
  client.far.close();
  const { message } = await reading.then(({ failure }) => ({ message: failure }));
  assert.equal(message, client.core.failure?.message);
  for (const rejected of [iteration, one.exited, two.exited, one.closed, two.closed, eventsOf(two)]) {
    await assert.rejects(rejected, client.core.failure);
  }
  assert.deepEqual(await one.read(), {
    chunks: [],
    nextSeq: 2,
    exited: true,
    exitCode: null,
    closed: true,
    failure: message,
    sandboxDenied: false,
  });
  await assert.rejects(one.write("x"), client.core.failure);
  await assert.rejects(client.processes.start({ argv: ["x"] }), client.core.failure);
  await assert.rejects(client.processes.attach("x"), client.core.failure);
});

Deno.test("process/read is repeated over a new connection", async () => {
  await using client = await ProcessClient.connect();
  const process = await client.start();
  const reading = process.read({ afterSeq: 0, maxBytes: 10, waitMs: 1_000 });
  const { params } = await client.far.request("process/read");
  await client.reconnect();
  await client.answerRead(0, readOf([]));
  const again = await client.far.request("process/read");
  assert.deepEqual(again.params, params);
  client.far.answer(again.id, { chunks: [], nextSeq: 1, exited: false, exitCode: null, closed: false });
  assert.equal((await reading).nextSeq, 1);
});

Deno.test("a held program is held again after a reconnect, since a server lets it go", async () => {
  await using client = await ProcessClient.connect({ extensions: true });
  const process = await client.start();
  const events = process[Symbol.asyncIterator]();
  for (let seq = 1; seq <= 17; seq++) client.tell([output(seq, new Uint8Array(1024 * 1024))]);
  const first = await client.far.request("execServer/process/holdOutput");
  assert.deepEqual(first.params, { processId: "p", hold: true });
  client.far.answer(first.id, {});
  await idle();
  await client.reconnect();
  await client.answerRead(17, { ...readOf([]), nextSeq: 18 });
  const again = await client.far.request("execServer/process/holdOutput");
  assert.deepEqual(again.params, { processId: "p", hold: true });
  client.far.answer(again.id, {});
  for (let seq = 1; seq <= 14; seq++) await events.next();
  const release = await client.far.request("execServer/process/holdOutput");
  assert.deepEqual(release.params, { processId: "p", hold: false });
  client.far.answer(release.id, {});
  await idle();
});

Deno.test("a program of a server that cannot hold it is not asked to wait", async () => {
  await using client = await ProcessClient.connect();
  const process = await client.start();
  process[Symbol.asyncIterator]();
  for (let seq = 1; seq <= 17; seq++) client.tell([output(seq, new Uint8Array(1024 * 1024))]);
  await idle();
  assert.deepEqual(client.far.unread, []);
});
