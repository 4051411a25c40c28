import assert from "node:assert/strict";
import { Tenancies } from "../../lib/sandbox/tenancies.ts";
import { ManualClock } from "../support/manual_clock.ts";
import { canUnshare, Inner } from "./support/inner.ts";

const ignore = Deno.build.os !== "linux" || !canUnshare();

Deno.test({
  name: "Tenancies end what is left of a sandbox, and keep what it relies on until then",
  ignore,
  fn: async () => {
    await using inner = new Inner();
    const clock = new ManualClock();
    const tenancies = new Tenancies(clock);
    const first = await inner.reported();
    const isOver = Promise.withResolvers<boolean>();
    const lease = { [Symbol.asyncDispose]: () => Promise.resolve(isOver.resolve(inner.isAlive())) };
    const ended = tenancies.begin(lease, first)(true);
    assert.equal(tenancies.size, 1);
    while (tenancies.size > 0) {
      clock.advance(300);
      await new Promise((resolve) => setTimeout(resolve, 1));
    }
    await ended;
    assert.equal(await isOver.promise, false);
  },
});

Deno.test({
  name: "Tenancies end at the end what is left of all sandboxes",
  ignore,
  fn: async () => {
    await using inner = new Inner();
    const tenancies = new Tenancies(new ManualClock());
    const lease = { [Symbol.asyncDispose]: () => Promise.resolve() };
    tenancies.begin(lease, await inner.reported());
    assert.equal(tenancies.wait(), true);
    assert.equal(inner.isAlive(), false);
    assert.equal(tenancies.size, 0);
  },
});

Deno.test({
  name: "Tenancies of what was never started let go at once, and kill nobody",
  ignore,
  fn: async () => {
    await using inner = new Inner();
    const tenancies = new Tenancies(new ManualClock());
    const lease = { [Symbol.asyncDispose]: () => Promise.resolve() };
    await tenancies.begin(lease, await inner.reported())(false);
    assert.equal(tenancies.size, 0);
    assert.equal(inner.isAlive(), true);
  },
});
