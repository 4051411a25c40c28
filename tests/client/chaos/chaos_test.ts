import assert from "node:assert/strict";
import { announcedSeed } from "../../program/random.ts";
import { RunningServer } from "../../program/running_server.ts";
import { chaosRuns } from "./runs.ts";

Deno.test({
  name: "thirty clients behind a bad network get every byte once or a clear failure, and leave nothing",
  ignore: Deno.build.os !== "linux",
  async fn() {
    const seed = announcedSeed("chaos");
    await using server = await RunningServer.start();
    const tally = await chaosRuns({ url: server.url, seed, runs: 30, atOnce: 3 });
    assert.ok(tally.failed > 0 && tally.connections > 60, `there were troubles: ${JSON.stringify(tally)}`);
  },
});
