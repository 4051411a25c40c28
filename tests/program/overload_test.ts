import assert from "node:assert/strict";
import type { WireClient } from "../support/wire_client.ts";
import { inTime } from "./eventually.ts";
import { startParams } from "./process_watch.ts";
import { RunningServer } from "./running_server.ts";

const MIB = 1024 * 1024;
/** What may be received and not yet answered on one connection. */
const UNANSWERED_LIMIT_BYTES = 256 * MIB;
/** Below the 16 MiB that a frame may have, so that only the sum is too much. */
const REQUEST_BYTES = 15 * MIB;
const MESSAGE_TOO_BIG = 1009;

Deno.test({
  name: "more than 256 MiB of unanswered requests end their connection with 1009, and nothing else",
  ignore: Deno.build.os !== "linux",
  async fn() {
    await using server = await RunningServer.start();
    await using other = await server.connect();
    await other.initialize();
    await using client = await server.connect();
    const sessionId = await client.initialize();
    await client.request("process/start", startParams("sleeper", { argv: ["sleep", "1000"] }));

    // The long poll holds up everything behind it.
    client.request("process/read", { processId: "sleeper", waitMs: 600_000 }).catch(() => {});
    await pileUp(client);
    assert.deepEqual(await other.request("environment/status"), { status: "ready" });
    client.send(bigRequest);
    const { code, reason } = await inTime("the end of the connection", client.ended);
    assert.equal(code, MESSAGE_TOO_BIG, reason);
    assert.match(server.stderr, /^\S+ (WARN|ERROR) /m, "the operator is told");

    // Neither the other connection nor the session and its program have suffered.
    assert.deepEqual(await other.request("environment/status"), { status: "ready" });
    await using again = await server.connect();
    assert.equal(await again.initialize(sessionId), sessionId);
    assert.deepEqual(await again.request("process/terminate", { processId: "sleeper" }), { running: true });
  },
});

/** As many requests as are just within the limit. */
async function pileUp(client: WireClient): Promise<void> {
  for (let sent = REQUEST_BYTES; sent <= UNANSWERED_LIMIT_BYTES; sent += REQUEST_BYTES) client.send(bigRequest);
  await client.flushed();
}

const bigRequest: Uint8Array = (() => {
  const [before, after] = ['{"id":"big","method":"process/write","params":{"processId":"none","chunk":"', '"}}'];
  return new TextEncoder().encode(before + "A".repeat(REQUEST_BYTES - before.length - after.length) + after);
})();
