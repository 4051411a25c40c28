import assert from "node:assert/strict";
import fc from "fast-check";
import { CLOSED_RETENTION_MS, MAX_KEPT_LONGER, Retirement } from "../../lib/process/retirement.ts";
import { ManualClock } from "../support/manual_clock.ts";

function stage() {
  const clock = new ManualClock();
  const forgotten: number[] = [];
  return { clock, forgotten, retirement: new Retirement<number>(clock, (item) => forgotten.push(item)) };
}

Deno.test("Retirement forgets each at its own time, with one timer", () => {
  const { clock, forgotten, retirement } = stage();
  for (const item of [1, 2, 3]) {
    retirement.add(item);
    clock.advance(10);
  }
  assert.equal(clock.pendingTimers, 1);
  clock.advance(CLOSED_RETENTION_MS - 30);
  assert.deepEqual(forgotten, [1]);
  clock.advance(10);
  assert.deepEqual(forgotten, [1, 2]);
  clock.advance(10);
  assert.deepEqual(forgotten, [1, 2, 3]);
  assert.equal(clock.pendingTimers, 0);
});

Deno.test("Retirement keeps everyone longer on demand, those included who are here, and never shorter than usual", () => {
  const { clock, forgotten, retirement } = stage();
  retirement.add(1);
  clock.advance(CLOSED_RETENTION_MS - 1);
  retirement.keepFor(10 * CLOSED_RETENTION_MS);
  retirement.add(2);
  clock.advance(9 * CLOSED_RETENTION_MS);
  assert.deepEqual([retirement.isOver(1), retirement.isOver(2), forgotten], [false, false, []]);
  clock.advance(1);
  assert.deepEqual([retirement.isOver(2), forgotten], [false, [1]]);
  retirement.add(3);
  retirement.keepFor(0);
  assert.deepEqual(forgotten, [1, 2]);
  clock.advance(CLOSED_RETENTION_MS - 1);
  assert.equal(retirement.isOver(3), false);
  clock.advance(1);
  assert.deepEqual(forgotten, [1, 2, 3]);
  assert.equal(clock.pendingTimers, 0);
});

Deno.test(`Retirement keeps at most ${MAX_KEPT_LONGER} beyond the usual time, the newest`, () => {
  const { clock, forgotten, retirement } = stage();
  retirement.keepFor(1e12);
  const count = MAX_KEPT_LONGER + 10;
  for (let item = 0; item < count; item++) retirement.add(item);
  clock.advance(CLOSED_RETENTION_MS - 1);
  assert.deepEqual(forgotten, []);
  clock.advance(1);
  assert.deepEqual(forgotten, [0, 1, 2, 3, 4, 5, 6, 7, 8, 9]);
  retirement.add(count);
  clock.advance(CLOSED_RETENTION_MS);
  assert.equal(forgotten.at(-1), 10);
  retirement[Symbol.dispose]();
  assert.equal(clock.pendingTimers, 0);
});

Deno.test("Retirement agrees with a list of who ended when, whatever happens in which order", () => {
  const step = fc.oneof(
    fc.constant({ do: "add" as const }),
    fc.record({ do: fc.constant("advance" as const), ms: fc.integer({ min: 0, max: 2 * CLOSED_RETENTION_MS }) }),
    fc.record({ do: fc.constant("keep" as const), ms: fc.integer({ min: 0, max: 5 * CLOSED_RETENTION_MS }) }),
    fc.record({ do: fc.constant("delete" as const), item: fc.nat(20) }),
  );
  fc.assert(fc.property(fc.array(step, { maxLength: 60 }), (steps) => {
    const { clock, forgotten, retirement } = stage();
    let model: { item: number; endedAt: number }[] = [];
    let keepMs = CLOSED_RETENTION_MS;
    const deleted = new Set<number>();
    let next = 0;
    for (const action of steps) {
      if (action.do === "add") {
        retirement.add(next);
        model.push({ item: next++, endedAt: clock.now() });
      } else if (action.do === "advance") clock.advance(action.ms);
      else if (action.do === "delete") {
        retirement.delete(action.item);
        model = model.filter(({ item }) => item !== action.item);
        if (action.item < next) deleted.add(action.item);
      } else {
        keepMs = Math.max(action.ms, CLOSED_RETENTION_MS);
        retirement.keepFor(action.ms);
      }
      model = model.filter(({ endedAt }) => clock.now() - endedAt < keepMs);
      for (let item = 0; item < next; item++) {
        const isKept = model.some((kept) => kept.item === item);
        const isGone = retirement.isOver(item) || forgotten.includes(item) || deleted.has(item);
        assert.equal(isGone, !isKept, `item ${item}`);
      }
      if (model.length > 0) assert.equal(clock.pendingTimers, 1);
    }
    clock.advance(6 * CLOSED_RETENTION_MS);
    assert.equal(clock.pendingTimers, 0);
    assert.equal(new Set(forgotten).size, forgotten.length, "nobody is forgotten twice");
  }));
});
