import assert from "node:assert/strict";
import fc from "fast-check";
import { OrderedEvents } from "../../lib/client/ordered_events.ts";
import type { ProcessEvent } from "../../lib/client/process.ts";
import { closed, exited, output } from "./support/events.ts";

/** A process that says something `outputs` times and exits somewhere in between. */
function lineOf(outputs: number, exitAt: number): ProcessEvent[] {
  const line = Array.from(
    { length: outputs + 1 },
    (_, at) => at === exitAt % (outputs + 1) ? exited(at + 1) : output(at + 1, `${at}`),
  );
  return [...line, closed(outputs + 2)];
}

Deno.test("OrderedEvents gives the same line whatever the order in which events come, and however often", () => {
  const disorders = fc.tuple(fc.nat(200), fc.nat(200)).chain(([outputs, exitAt]) => {
    const line = lineOf(outputs, exitAt);
    return fc.record({
      line: fc.constant(line),
      coming: fc.shuffledSubarray([...line, ...line.slice(0, 30)], {
        minLength: line.length + Math.min(line.length, 30),
      }),
    });
  });
  fc.assert(
    fc.property(disorders, ({ line, coming }) => {
      const events = new OrderedEvents();
      const published: ProcessEvent[] = [];
      for (const event of coming) {
        published.push(...events.accept(event));
        assert.deepEqual(published, line.slice(0, published.length), "nothing comes early");
      }
      assert.deepEqual(published, line);
      assert.equal(events.ended, true);
    }),
    { numRuns: 200 },
  );
});

Deno.test("OrderedEvents lets a close that came first wait for everything before it", () => {
  const events = new OrderedEvents();
  assert.deepEqual(events.accept(closed(3)), []);
  assert.deepEqual(events.accept(exited(2)), []);
  assert.equal(events.highestSeq, 3);
  assert.deepEqual(events.accept(output(1, "a")), [output(1, "a"), exited(2), closed(3)]);
  assert.deepEqual(events.accept(output(4, "late")), [], "nothing comes after the close");
});

Deno.test("OrderedEvents keeps the first of two events with one number", () => {
  const events = new OrderedEvents();
  events.accept(output(2, "first"));
  events.accept(output(2, "second"));
  assert.deepEqual(events.accept(output(1, "a")), [output(1, "a"), output(2, "first")]);
  assert.deepEqual(events.accept(output(2, "third")), []);
  assert.deepEqual(events.accept(output(0, "never a number")), []);
});

Deno.test("OrderedEvents lets 256 events wait and refuses one more, except for the one that closes the gap", () => {
  const full = () => {
    const events = new OrderedEvents();
    for (let seq = 2; seq <= 257; seq++) assert.deepEqual(events.accept(output(seq, "x")), []);
    return events;
  };
  assert.equal(full().accept(output(1, "x")).length, 257);
  const events = full();
  assert.throws(() => events.accept(output(258, "x")), {
    kind: "protocol",
    message: "process event reorder buffer exceeds 256 entries",
  });
  assert.deepEqual(events.accept(output(1, "x")), [], "a line that has failed stays so");
});

Deno.test("OrderedEvents lets 1 MiB of output wait and refuses one byte more, except for what closes the gap", () => {
  const full = () => {
    const events = new OrderedEvents();
    events.accept(output(2, new Uint8Array(1024 * 1024)));
    return events;
  };
  assert.throws(() => full().accept(output(3, "x")), {
    kind: "protocol",
    message: "process event reorder buffer exceeds 1048576 bytes",
  });
  assert.equal(full().accept(output(1, new Uint8Array(1024 * 1024))).length, 2);
  assert.deepEqual(full().accept(exited(3)), [], "an exit has no bytes");
});

Deno.test("OrderedEvents refuses a single event of more than 1 MiB even if nothing waits", () => {
  assert.throws(() => new OrderedEvents().accept(output(1, new Uint8Array(1024 * 1024 + 1))), {
    kind: "protocol",
    message: "process event exceeds 1048576 bytes",
  });
});

Deno.test("OrderedEvents lets more wait while what is missing is on its way, but not without end", () => {
  const events = new OrderedEvents();
  events.catchingUp = true;
  for (let seq = 2; seq <= 65_537; seq++) events.accept(output(seq, ""));
  assert.throws(() => events.accept(output(65_538, "")), {
    message: "process event reorder buffer exceeds 65536 entries",
  });
});

Deno.test("OrderedEvents counts only what waits: a buffer that was emptied has room again", () => {
  const events = new OrderedEvents();
  for (let round = 0; round < 4; round++) {
    const first = round * 201 + 1;
    for (let seq = first + 1; seq <= first + 200; seq++) events.accept(output(seq, new Uint8Array(5_000)));
    assert.equal(events.accept(output(first, "x")).length, 201);
  }
});
