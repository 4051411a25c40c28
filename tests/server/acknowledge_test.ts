import assert from "node:assert/strict";
import { ExecClient } from "../../lib/client/client.ts";
import { silentLog } from "../../lib/log.ts";
import { portableBackend } from "../../lib/process/portable/spawn.ts";
import { memoryPair } from "../../lib/rpc/memory.ts";
import { ExecServer } from "../../lib/server/mod.ts";

// Opens the C library before a test could be blamed for it.
if (Deno.build.os === "linux") await import("../../lib/process/linux/machine.ts");

/** A client behind a carrier that can acknowledge what came. */
async function connected(acknowledge: () => void) {
  const stack = new AsyncDisposableStack();
  const server = stack.use(await ExecServer.create({ backend: stack.use(portableBackend({ log: silentLog })) }));
  const [near, far] = memoryPair();
  far.acknowledge = acknowledge;
  const served = server.serve(far, "websocket");
  stack.defer(() => served.then(() => {}));
  const open = () => Promise.resolve({ connection: near });
  const client = await ExecClient.connect({ label: "memory", resume: null, renewable: false, open });
  stack.use(client);
  return { client, [Symbol.asyncDispose]: () => stack.disposeAsync() };
}

Deno.test("a client hears soon that its initialized arrived, to which there is no answer", async () => {
  const { promise, resolve } = Promise.withResolvers<void>();
  await using _place = await connected(resolve);
  await promise;
});

Deno.test("a client that asks at once hears it from its answer, and one that leaves not at all", async () => {
  let acknowledged = 0;
  const count = () => void acknowledged++;
  {
    await using place = await connected(count);
    await place.client.call("environment/status", null);
  }
  await (await connected(count))[Symbol.asyncDispose]();
  // Timers that were not cancelled would be leaks of this test.
  assert.equal(acknowledged, 0);
});
