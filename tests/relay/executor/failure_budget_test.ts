import assert from "node:assert/strict";
import { FailureBudget } from "../../../lib/relay/executor/failure_budget.ts";
import { ManualClock } from "../../support/manual_clock.ts";

function fail(budget: FailureBudget, times: number): boolean[] {
  return Array.from({ length: times }, () => budget.fail());
}

Deno.test("the eighth failure begins a pause of ten seconds", () => {
  const clock = new ManualClock();
  const budget = new FailureBudget(clock);
  assert.deepEqual(fail(budget, 7), Array(7).fill(false));
  assert.equal(budget.paused, false);
  assert.equal(budget.fail(), true);
  assert.equal(budget.paused, true);
  clock.advance(9_999);
  assert.equal(budget.paused, true);
  clock.advance(1);
  assert.equal(budget.paused, false);
});

Deno.test("time does not make the count of failures smaller", () => {
  const clock = new ManualClock();
  const budget = new FailureBudget(clock);
  fail(budget, 7);
  clock.advance(24 * 3_600_000);
  assert.equal(budget.fail(), true);
});

Deno.test("the count begins anew with a pause, and failures during it count for the next one", () => {
  const clock = new ManualClock();
  const budget = new FailureBudget(clock);
  fail(budget, 8);
  clock.advance(5_000);
  assert.deepEqual(fail(budget, 7), Array(7).fill(false));
  clock.advance(5_000);
  assert.equal(budget.paused, false);
  assert.equal(budget.fail(), true);
  assert.equal(budget.paused, true);
});
