import assert from "node:assert/strict";
import { ExecClient } from "../../lib/client/client.ts";
import { silentLog } from "../../lib/log.ts";
import { portableBackend } from "../../lib/process/portable/spawn.ts";
import { memoryPair } from "../../lib/rpc/memory.ts";
import { ExecServer } from "../../lib/server/mod.ts";

// Opens the C library before a test could be blamed for it.
if (Deno.build.os === "linux") await import("../../lib/process/linux/machine.ts");

Deno.test("a client that has said initialized, to which there is no answer, hears at once that it arrived", async () => {
  using backend = portableBackend({ log: silentLog });
  using server = await ExecServer.create({ backend });
  const [near, far] = memoryPair();
  let acknowledged = 0;
  far.acknowledge = () => acknowledged++;
  const served = server.serve(far, "websocket");
  const open = () => Promise.resolve({ connection: near });
  await using client = await ExecClient.connect({ label: "memory", resume: null, renewable: false, open });
  await client.call("environment/status", null);
  assert.equal(acknowledged, 1);
  await client.end();
  await served;
});
