import assert from "node:assert/strict";
import fc from "fast-check";
import { ClientError } from "../../lib/client/client_error.ts";
import type { ProcessEvent } from "../../lib/client/process.ts";
import { type FeedSource, ProcessFeed } from "../../lib/client/process_feed.ts";
import type { ReadResult } from "../../lib/protocol/process.ts";
import { closed, exited, output, readOf } from "./support/events.ts";

const MIB = 1024 * 1024;
const FAILURE = new ClientError("disconnected", "exec-server transport disconnected");

/** A feed whose source remembers what the test says, and writes down how it was asked to hold. */
function feedOver(remembered: () => ReadResult = () => assert.fail("nothing is remembered")) {
  const holds: boolean[] = [];
  const reads: number[] = [];
  const source: FeedSource = {
    hold: (on) => void holds.push(on),
    read: ({ afterSeq }) => {
      reads.push(afterSeq);
      return Promise.resolve(remembered());
    },
  };
  return { feed: new ProcessFeed(source), holds, reads };
}

async function all(feed: ProcessFeed): Promise<ProcessEvent[]> {
  return await Array.fromAsync({ [Symbol.asyncIterator]: () => feed.events() });
}

async function bytesOf(stream: ReadableStream<Uint8Array<ArrayBuffer>>): Promise<string> {
  return await new Response(stream).text();
}

Deno.test("every reader sees every event in order, whether it came before, in between or after", async () => {
  const { feed } = feedOver();
  const line = [output(1, "a"), output(2, "b", "stderr"), exited(3), output(4, "c"), closed(5)];
  const first = all(feed);
  feed.publish(line[0]!);
  feed.publish(line[1]!);
  const second = all(feed);
  for (const event of line.slice(2)) feed.publish(event);
  assert.deepEqual(await first, line);
  assert.deepEqual(await second, line);
  assert.deepEqual(await all(feed), line);
  assert.deepEqual(await feed.exited, line[2]);
  await feed.closed;
});

Deno.test("the streams carry the bytes of their own kind; a terminal's are stdout", async () => {
  const { feed } = feedOver();
  const [stdout, stderr, both] = [feed.stream("stdout"), feed.stream("stderr"), feed.stream("output")].map(bytesOf);
  feed.publish(output(1, "a"));
  feed.publish(output(2, "b", "stderr"));
  feed.publish(output(3, "c", "pty"));
  feed.publish(exited(4));
  feed.publish(closed(5));
  assert.deepEqual(await Promise.all([stdout, stderr, both]), ["ac", "b", "abc"]);
});

Deno.test("a failure comes after what was published before it, and to everybody the same", async () => {
  const { feed } = feedOver();
  const iteration = feed.events();
  feed.publish(output(1, "a"));
  feed.fail(FAILURE);
  feed.fail(new ClientError("closed", "another"));
  feed.publish(output(2, "too late"));
  assert.deepEqual(await iteration.next(), { done: false, value: output(1, "a") });
  await assert.rejects(iteration.next(), FAILURE);
  await assert.rejects(feed.exited, FAILURE);
  await assert.rejects(feed.closed, FAILURE);
  const stream = feed.stream("stdout").getReader();
  assert.deepEqual((await stream.read()).value, output(1, "a").bytes);
  await assert.rejects(stream.read(), FAILURE);
});

Deno.test("a close without an exit is told to whoever waits for the exit", async () => {
  const { feed } = feedOver();
  feed.publish(closed(1));
  await feed.closed;
  await assert.rejects(feed.exited, { kind: "protocol", message: /process was closed without an exit$/ });
});

Deno.test("leaving an iteration ends it, also while it waits", async () => {
  const { feed } = feedOver();
  const iteration = feed.events();
  const waiting = iteration.next();
  await iteration.return();
  assert.deepEqual(await waiting, { done: true, value: undefined });
  feed.publish(output(1, "a"));
  assert.deepEqual(await iteration.next(), { done: true, value: undefined });
});

Deno.test("a cancelled stream ends alone", async () => {
  const { feed } = feedOver();
  const stream = feed.stream("output");
  const events = feed.events();
  await stream.cancel();
  feed.publish(output(1, "a"));
  assert.deepEqual(await events.next(), { done: false, value: output(1, "a") });
});

Deno.test("without a reader 16 MiB are kept, the newest, and the program is not held", async () => {
  const { feed, holds } = feedOver();
  for (let seq = 1; seq <= 20; seq++) feed.publish(output(seq, new Uint8Array(MIB)));
  feed.publish(exited(21));
  feed.publish(closed(22));
  const seqs = (await all(feed)).map(({ seq }) => seq);
  assert.deepEqual([seqs[0], seqs.at(-1)], [6, 22]);
  assert.deepEqual(holds, []);
});

Deno.test("a stream whose beginning is no longer kept says so instead of beginning in the middle", async () => {
  const { feed } = feedOver();
  for (let seq = 1; seq <= 20; seq++) feed.publish(output(seq, new Uint8Array(MIB), "stderr"));
  feed.publish(output(21, "out"));
  feed.publish(exited(22));
  feed.publish(closed(23));
  await assert.rejects(bytesOf(feed.stream("stderr")), {
    kind: "outputLost",
    message: `stderr was not read from the start, and the first ${5 * MIB} bytes of it are no longer kept`,
  });
  await assert.rejects(bytesOf(feed.stream("output")), { kind: "outputLost" });
  assert.equal(await bytesOf(feed.stream("stdout")), "out", "nothing of this one is missing");
});

Deno.test("after the first reader 256 events are kept for those who come late", async () => {
  const { feed } = feedOver();
  const first = feed.events();
  for (let seq = 1; seq <= 1000; seq++) {
    feed.publish(output(seq, "x"));
    await first.next();
  }
  const late = feed.events();
  assert.equal((await late.next()).value?.seq, 1000 - 255);
});

Deno.test("after the first reader 1 MiB is kept for those who come late", async () => {
  const { feed } = feedOver();
  const first = feed.events();
  for (let seq = 1; seq <= 100; seq++) {
    feed.publish(output(seq, new Uint8Array(64 * 1024)));
    await first.next();
  }
  const late = feed.events();
  assert.equal((await late.next()).value?.seq, 100 - 15);
});

Deno.test("readers that come one right after the other all begin at the beginning", async () => {
  const { feed } = feedOver();
  for (let seq = 1; seq <= 1000; seq++) feed.publish(output(seq, "x", seq % 2 ? "stdout" : "stderr"));
  const stdout = feed.stream("stdout");
  feed.publish(output(1001, "x", "stderr"));
  const stderr = feed.stream("stderr");
  feed.publish(exited(1002));
  feed.publish(closed(1003));
  assert.equal((await bytesOf(stdout)).length, 500);
  assert.equal((await bytesOf(stderr)).length, 501);
});

Deno.test("a program is held while a reader has more than 16 MiB to read, until less than 4 are left", async () => {
  const { feed, holds } = feedOver();
  const slow = feed.events();
  const fast = feed.events();
  for (let seq = 1; seq <= 16; seq++) {
    assert.deepEqual(holds, []);
    feed.publish(output(seq, new Uint8Array(MIB)));
    await fast.next();
  }
  assert.deepEqual(holds, [true]);
  for (let seq = 1; seq <= 12; seq++) await slow.next();
  assert.deepEqual(holds, [true]);
  await slow.next();
  assert.deepEqual(holds, [true, false]);
});

Deno.test("a reader that leaves, or a program that is to end, does not stay held", async () => {
  const { feed, holds } = feedOver();
  const slow = feed.events();
  for (let seq = 1; seq <= 17; seq++) feed.publish(output(seq, new Uint8Array(MIB)));
  await slow.return();
  assert.deepEqual(holds, [true, false]);
  const other = feed.events();
  for (let seq = 18; seq <= 40; seq++) feed.publish(output(seq, new Uint8Array(MIB)));
  assert.deepEqual(holds, [true, false, true]);
  feed.neverHold();
  for (let seq = 41; seq <= 60; seq++) feed.publish(output(seq, new Uint8Array(MIB)));
  assert.deepEqual(holds, [true, false, true, false]);
  await other.return();
});

Deno.test("many small events hold a program too", () => {
  const { feed, holds } = feedOver();
  feed.events();
  for (let seq = 1; seq <= 140_000; seq++) feed.publish(output(seq, ""));
  assert.deepEqual(holds, [true]);
});

/** Publishes so much that a reader which takes nothing falls behind; `last` is the number of the last one. */
function flood(feed: ProcessFeed, firstSeq: number): { last: number } {
  const piece = new Uint8Array(MIB);
  for (let seq = firstSeq; seq < firstSeq + 258; seq++) feed.publish(output(seq, piece));
  return { last: firstSeq + 257 };
}

Deno.test("a reader that falls 256 MiB behind goes on with what the server remembers", async () => {
  const line: ProcessEvent[] = [];
  const { feed, reads } = feedOver(() => readOf(line, 1));
  const publish = (event: ProcessEvent) => {
    line.push(event);
    feed.publish(event);
  };
  const slow = feed.events();
  publish(output(1, "a"));
  await slow.next();
  const { last } = flood({ publish } as ProcessFeed, 2);
  publish(exited(last + 1, 3));
  const seqs: number[] = [];
  for (let seq = 2; seq <= last + 1; seq++) seqs.push((await slow.next()).value!.seq);
  assert.deepEqual(seqs, Array.from({ length: last }, (_, at) => at + 2));
  assert.deepEqual(reads, [1]);
  publish(closed(last + 2));
  assert.equal((await slow.next()).value?.type, "closed");
  assert.equal((await slow.next()).done, true);
});

Deno.test("a reader that falls 256 MiB behind and whose events nobody has any more fails alone, in words", async () => {
  const { feed } = feedOver(() => readOf([]));
  const slow = feed.stream("stdout");
  const other = feed.stream("stderr");
  const { last } = flood(feed, 1);
  feed.publish(output(last + 1, "err", "stderr"));
  feed.publish(exited(last + 2));
  feed.publish(closed(last + 3));
  await assert.rejects(bytesOf(slow), {
    kind: "outputLost",
    message: /^read too slowly: events 1 to \d+ are no longer kept anywhere$/,
  });
  assert.equal(await bytesOf(other), "err");
});

Deno.test("any mixture of readers, whenever they take something, sees the same line", async () => {
  const act = fc.oneof(
    fc.record({ kind: fc.constant("publish" as const), stream: fc.constantFrom("stdout" as const, "stderr" as const) }),
    fc.record({ kind: fc.constant("take" as const), reader: fc.nat(2) }),
  );
  await fc.assert(fc.asyncProperty(fc.array(act, { maxLength: 60 }), async (acts) => {
    const { feed } = feedOver();
    const readers = [0, 1, 2].map(() => ({ events: feed.events(), pending: [] as Promise<number | undefined>[] }));
    let seq = 0;
    for (const step of acts) {
      if (step.kind === "publish") feed.publish(output(++seq, `${seq}`, step.stream));
      else {
        const { events, pending } = readers[step.reader]!;
        pending.push(events.next().then(({ value }) => value?.seq));
      }
    }
    feed.publish(exited(++seq));
    feed.publish(closed(++seq));
    for (const { events, pending } of readers) {
      const taken = await Promise.all(pending);
      for (let next = await events.next(); !next.done; next = await events.next()) taken.push(next.value.seq);
      const line = Array.from({ length: seq }, (_, at) => at + 1);
      assert.deepEqual(taken.filter((each) => each !== undefined), line);
    }
  }));
});
