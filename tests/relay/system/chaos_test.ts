import assert from "node:assert/strict";
import { announcedSeed } from "../../program/random.ts";
import { relayChaos } from "../support/chaos.ts";
import { relayTest } from "../support/rig.ts";

relayTest("six clients of a relay behind a bad network get every byte once or a clear failure", async () => {
  const { whole, connections } = await relayChaos({ seed: announcedSeed("relay chaos"), runs: 6, atOnce: 6 });
  assert.ok(whole >= 12 && connections > 6, `there were troubles: ${whole} deeds, ${connections} connections`);
});
