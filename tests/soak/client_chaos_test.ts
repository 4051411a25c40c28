import assert from "node:assert/strict";
import { installedReference } from "../bench/reference.ts";
import { chaosRuns } from "../client/chaos/runs.ts";
import { announcedSeed } from "../program/random.ts";
import { OUR_COMMAND, RunningServer, type ServerCommand } from "../program/running_server.ts";

const RUNS = 500;

function soak(name: string, command: ServerCommand | null): void {
  Deno.test({
    name: `${RUNS} clients of ${name} behind a bad network get every byte once or a clear failure, and leave nothing`,
    ignore: command === null || Deno.build.os !== "linux",
    async fn() {
      const seed = announcedSeed(`chaos with ${name}`);
      await using server = await RunningServer.start({ command: command! });
      const tally = await chaosRuns({ url: server.url, seed, runs: RUNS, atOnce: 4 });
      console.error(`${tally.whole} deeds whole, ${tally.failed} attempts failed, ${tally.connections} connections`);
      assert.ok(tally.failed > 0 && tally.connections > 2 * RUNS);
    },
  });
}

soak("our server", OUR_COMMAND);
soak("the reference", await installedReference());
