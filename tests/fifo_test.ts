import assert from "node:assert/strict";
import fc from "fast-check";
import { Fifo } from "../lib/fifo.ts";
import { collectGarbage } from "./support/collect_garbage.ts";

Deno.test("Fifo gives what an array would give", () => {
  const action = fc.oneof(
    { weight: 50, arbitrary: fc.constantFrom("push" as const, "shift" as const) },
    { weight: 1, arbitrary: fc.constant("clear" as const) },
  );
  fc.assert(fc.property(fc.nat(3000), fc.array(action, { maxLength: 300 }), (before, actions) => {
    const fifo = new Fifo<string>();
    let model: string[] = [];
    const push = (item: string) => (fifo.push(item), model.push(item));
    for (let number = 0; number < before; number++) push(`${number}`);
    for (let number = 0; number < before / 2; number++) assert.equal(fifo.shift(), model.shift());
    for (const [number, action] of actions.entries()) {
      if (action === "push") push(`later ${number}`);
      else if (action === "shift") assert.equal(fifo.shift(), model.shift());
      else {
        fifo.clear();
        model = [];
      }
      assert.equal(fifo.length, model.length);
    }
    while (model.length > 0) assert.equal(fifo.shift(), model.shift());
    assert.equal(fifo.shift(), undefined);
  }));
});

Deno.test("Fifo keeps nothing of what was taken, also while others wait", async () => {
  const fifo = new Fifo<object>();
  let collected = 0;
  const registry = new FinalizationRegistry(() => void collected++);
  for (let number = 0; number < 100; number++) pushOne(fifo, registry);
  fifo.push({});
  for (let number = 0; number < 100; number++) fifo.shift();
  let rounds = 0;
  await collectGarbage(() => collected === 100 || ++rounds === 20);
  assert.equal(collected, 100);
  assert.equal(fifo.length, 1);
});

/** In a function of its own, so that nothing else holds what was pushed. */
function pushOne(fifo: Fifo<object>, registry: FinalizationRegistry<undefined>): void {
  const item = {};
  registry.register(item, undefined);
  fifo.push(item);
}
