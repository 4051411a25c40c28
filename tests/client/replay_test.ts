import assert from "node:assert/strict";
import fc from "fast-check";
import { OrderedEvents } from "../../lib/client/ordered_events.ts";
import type { ProcessEvent } from "../../lib/client/process.ts";
import { lastSeqBefore, missedEvents } from "../../lib/client/replay.ts";
import type { ReadResult } from "../../lib/protocol/process.ts";
import { closed, exited, output, type OutputEvent, readOf } from "./support/events.ts";

/** Any life of a process so far: output, perhaps an exit with more output behind it, perhaps a close. */
const lives: fc.Arbitrary<ProcessEvent[]> = fc.record({
  before: fc.nat(20),
  exit: fc.option(fc.record({ after: fc.nat(20), isClosed: fc.boolean(), code: fc.integer({ min: 0, max: 255 }) })),
}).map(({ before, exit }) => {
  const line: ProcessEvent[] = [];
  const add = (make: (seq: number) => ProcessEvent) => line.push(make(line.length + 1));
  for (let count = 0; count < before; count++) add((seq) => output(seq, `${seq}`));
  if (exit !== null) {
    add((seq) => exited(seq, exit.code));
    for (let count = 0; count < exit.after; count++) add((seq) => output(seq, `${seq}`));
    if (exit.isClosed) add(closed);
  }
  return line;
});

/** A life, how much of it was heard before the loss, and when the server answered the read. */
const losses = lives.chain((line) =>
  fc.record({
    line: fc.constant(line),
    heard: fc.nat(line.length),
    answeredAt: fc.nat(line.length),
    early: fc.subarray(line),
    late: fc.subarray(line),
  })
).map((loss) => ({ ...loss, answeredAt: Math.max(loss.heard, loss.answeredAt) }));

/** A stream that has heard the beginning of a line. */
function afterHearing(line: readonly ProcessEvent[], heard: number): OrderedEvents {
  const events = new OrderedEvents();
  for (const event of line.slice(0, heard)) events.accept(event);
  events.catchingUp = true;
  return events;
}

Deno.test("an answer to process/read gives every missed event once and in order, whatever came early or comes again", () => {
  fc.assert(
    fc.property(losses, ({ line, heard, answeredAt, early, late }) => {
      const events = afterHearing(line, heard);
      const published = line.slice(0, heard);
      for (const event of early) published.push(...events.accept(event));
      published.push(...events.recover(readOf(line.slice(0, answeredAt), heard)));
      assert.ok(published.length >= answeredAt);
      for (const event of late) published.push(...events.accept(event));
      for (const event of line.slice(answeredAt)) published.push(...events.accept(event));
      assert.deepEqual(published, line);
    }),
    { numRuns: 500 },
  );
});

Deno.test("an answer without some of what was missed is refused, and nothing of it is published", () => {
  const gaps = losses.filter(({ line, heard, answeredAt }) =>
    line.slice(heard, answeredAt).some(({ type }) => type === "output")
  ).chain((loss) => {
    const missed = loss.line.slice(loss.heard, loss.answeredAt).filter(({ type }) => type === "output");
    return fc.record({ loss: fc.constant(loss), gone: fc.subarray(missed, { minLength: 1 }) });
  });
  fc.assert(fc.property(gaps, ({ loss: { line, heard, answeredAt }, gone }) => {
    const events = afterHearing(line, heard);
    const whole = readOf(line.slice(0, answeredAt), heard);
    const answer = { ...whole, chunks: whole.chunks.filter(({ seq }) => gone.every((event) => event.seq !== seq)) };
    assert.throws(() => events.recover(answer), {
      kind: "protocol",
      message: "exec-server protocol error: process events are no longer retained while recovering through sequence " +
        answeredAt,
    });
    assert.equal(events.lastSeq, heard);
    const rest = events.recover(whole);
    assert.deepEqual(rest, line.slice(heard, answeredAt), "a refused answer leaves no trace");
  }));
});

function fit(answer: Partial<ReadResult>, early: ProcessEvent[] = [], lastSeq = 3, exitPublished = false) {
  return missedEvents(
    { lastSeq, exitPublished, early: new Map(early.map((event) => [event.seq, event])) },
    { chunks: [], nextSeq: lastSeq + 1, exited: false, exitCode: null, closed: false, sandboxDenied: false, ...answer },
  );
}

function refused(detail: string): { kind: string; message: string } {
  return { kind: "protocol", message: `exec-server protocol error: ${detail}` };
}

Deno.test("a failure that the server tells fails the recovery with its words", () => {
  assert.throws(() => fit({ failure: "disk full" }), refused("process failed while recovering: disk full"));
});

Deno.test("an answer that tells nothing new changes nothing, not even if it contradicts itself", () => {
  assert.deepEqual(fit({ nextSeq: 4, closed: true, exited: true }), []);
  assert.deepEqual(fit({ nextSeq: 2, chunks: [output(9, "x")] }), []);
});

Deno.test("a close that stands where output stands is refused", () => {
  const detail = "process close sequence 5 conflicts with recovered output";
  assert.throws(() => fit({ nextSeq: 6, closed: true, chunks: [output(4, "a"), output(5, "b")] }), refused(detail));
  assert.throws(() => fit({ nextSeq: 6, closed: true }, [output(5, "b")]), refused(detail));
});

Deno.test("output beyond the answer's own end is refused", () => {
  assert.throws(
    () => fit({ nextSeq: 6, chunks: [output(4, "a"), output(6, "b")] }),
    refused("recovered process output sequence 6 exceeds target sequence 5"),
  );
});

Deno.test("an exit takes the one place that nothing else takes", () => {
  const chunks = [output(4, "a"), output(6, "b")];
  const end = { nextSeq: 8, exited: true, exitCode: 7, closed: true, sandboxDenied: true, chunks };
  assert.deepEqual(fit(end), [...chunks, closed(7), exited(5, 7, true)]);
  assert.deepEqual(fit({ ...end, nextSeq: 6, closed: false, chunks: chunks.slice(0, 1) }), [
    output(4, "a"),
    exited(5, 7, true),
  ]);
});

Deno.test("an exit without its code is refused", () => {
  assert.throws(
    () => fit({ nextSeq: 5, exited: true }),
    refused("recovering exited process did not include its exit code"),
  );
});

Deno.test("no exit is invented for a gap of several events, nor is one guessed that is known", () => {
  const detail = "process events are no longer retained while recovering through sequence 6";
  const answer = { nextSeq: 7, exited: true, exitCode: 0, chunks: [output(6, "c")] };
  assert.throws(() => fit(answer), refused(detail));
  assert.throws(() => fit(answer, [exited(5)]), refused(detail));
  assert.throws(() => fit({ ...answer, chunks: [output(5, "b"), output(6, "c")] }, [], 3, true), refused(detail));
  assert.throws(() => fit({ nextSeq: 10 ** 12, exited: true, exitCode: 0 }), /no longer retained/);
});

Deno.test("an exit that waits in the buffer learns that a sandbox denied something", () => {
  const events = new OrderedEvents();
  events.accept(exited(2, 1));
  const answer = readOf([output(1, "a"), exited(2, 1, true)]);
  assert.deepEqual(events.recover(answer), [output(1, "a"), exited(2, 1, true)]);
});

Deno.test("a process that was begun by another client starts with the oldest that is retained, its exit included", () => {
  const attach = lives.filter((line) => line.length > 0).chain((line) =>
    fc.record({ line: fc.constant(line), oldest: fc.integer({ min: 1, max: line.length }) })
  );
  fc.assert(
    fc.property(attach, ({ line, oldest }) => {
      const answer = readOf(line, 0, oldest);
      const events = new OrderedEvents();
      events.beginAfter(lastSeqBefore(answer));
      const published = events.recover(answer);
      const outputs = line.filter((event): event is OutputEvent => event.type === "output" && event.seq >= oldest);
      assert.deepEqual(published.filter(({ type }) => type === "output"), outputs);
      assert.equal(published.some(({ type }) => type === "exited"), answer.exited);
      assert.equal(published.at(-1)?.type === "closed", answer.closed);
      published.slice(1).forEach((event, at) => assert.equal(event.seq, published[at]!.seq + 1));
      assert.equal(events.lastSeq, line.length);
    }),
    { numRuns: 500 },
  );
});
