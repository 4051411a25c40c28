import assert from "node:assert/strict";
import { inTime } from "./eventually.ts";
import { residentBytes } from "./proc.ts";
import { Scene } from "./scene.ts";

/** Without a bound a flood takes gigabytes within seconds. What is retained and on its way is a few MiB. */
const MEMORY_LIMIT_BYTES = 64 * 1024 * 1024;
const ROUND_TRIPS = 500;

for (const tty of [false, true]) {
  Deno.test({
    name: `a client that does not read holds up its own program on ${tty ? "a terminal" : "pipes"}, and nothing else`,
    ignore: Deno.build.os !== "linux",
    async fn() {
      await using scene = await Scene.open();
      const before = residentBytes(scene.server.pid);
      const flood = await scene.floodUnread(tty);

      await using other = await scene.server.connect();
      await other.initialize();
      for (let trip = 0; trip < ROUND_TRIPS; trip++) {
        assert.deepEqual(await inTime("an answer", other.request("environment/status")), { status: "ready" });
      }
      const grown = residentBytes(scene.server.pid) - before;
      assert.ok(grown < MEMORY_LIMIT_BYTES, `memory grew by ${grown} bytes`);

      scene.client.resumeReading();
      await scene.client.request("process/terminate", { processId: flood.id });
      await inTime("the flood's end", flood.closed.promise);
      assert.deepEqual(flood.faults, []);
    },
  });
}
