import assert from "node:assert/strict";
import { patience, TIDY_MS } from "../../../lib/cli/copy/patience.ts";
import { ManualClock } from "../../support/manual_clock.ts";

Deno.test("an interrupted copy waits for the other side as long as tidying up may take", () => {
  const [clock, aborter] = [new ManualClock(), new AbortController()];
  using limit = patience(aborter.signal, () => true, clock);
  clock.advance(2 * TIDY_MS);
  assert.ok(!limit.over.aborted, "nobody has interrupted it");
  aborter.abort(new Error("enough"));
  clock.advance(TIDY_MS - 1);
  assert.ok(!limit.over.aborted);
  clock.advance(1);
  assert.equal(limit.over.reason, aborter.signal.reason);
});

Deno.test("it does not wait at all while the link is lost, and no timer is left", () => {
  for (const isLinked of [true, false]) {
    const [clock, aborter] = [new ManualClock(), new AbortController()];
    {
      using limit = patience(aborter.signal, () => isLinked, clock);
      aborter.abort(new Error("enough"));
      assert.equal(limit.over.aborted, !isLinked);
    }
    clock.advance(2 * TIDY_MS);
    assert.equal(clock.pendingTimers, 0);
  }
});
