import assert from "node:assert/strict";
import type { CallContext } from "../../lib/server/handler.ts";
import { lazyHandlers } from "../../lib/server/lazy_handlers.ts";

const context = {} as CallContext;

Deno.test("lazyHandlers loads with the first request, once, and keeps the order of those that wait", async () => {
  const gate = Promise.withResolvers<void>();
  let loads = 0;
  const handled: unknown[] = [];
  const table = lazyHandlers(["environment/status"], async () => {
    loads++;
    await gate.promise;
    return { "environment/status": (params) => (handled.push(params), { status: "ready" }) };
  });
  assert.equal(loads, 0);
  const [first, second] = [1, 2].map((params) => table["environment/status"](params as unknown as null, context));
  gate.resolve();
  assert.deepEqual(await Promise.all([first, second]), [{ status: "ready" }, { status: "ready" }]);
  assert.deepEqual([handled, loads], [[1, 2], 1]);
  assert.deepEqual(table["environment/status"](null, context), { status: "ready" }, "no promise once it is loaded");
});

Deno.test("lazyHandlers loads again after it has failed", async () => {
  let loads = 0;
  const table = lazyHandlers(["environment/status"], () => {
    if (++loads === 1) return Promise.reject(new Error("not there"));
    return Promise.resolve({ "environment/status": () => ({ status: "ready" }) });
  });
  await assert.rejects(async () => await table["environment/status"](null, context), { message: "not there" });
  assert.deepEqual(await table["environment/status"](null, context), { status: "ready" });
});
