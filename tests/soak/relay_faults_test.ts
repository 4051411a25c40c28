import { announcedSeed } from "../program/random.ts";
import { relayChaos } from "../relay/support/chaos.ts";
import { relayTest } from "../relay/support/rig.ts";
import { faultRun } from "../relay/system/fault_run.ts";

const FAULT_RUNS = 150;
const CHAOS_RUNS = 300;

relayTest(`${FAULT_RUNS} times three clients behind a rendezvous that does what it likes to their frames`, async () => {
  const seed = announcedSeed("relay faults");
  let [told, unknown, connections] = [0, 0, 0];
  for (let run = 0; run < FAULT_RUNS; run++) {
    const tally = await faultRun(seed + run);
    [told, unknown, connections] = [told + tally.told, unknown + tally.unknown, connections + tally.connections];
  }
  console.error(`${told} commands told, ${unknown} unknown, ${connections} connections`);
});

relayTest(`${CHAOS_RUNS} clients of a relay behind a bad network get every byte once or a clear failure`, async () => {
  const { whole, failed, connections } = await relayChaos({
    seed: announcedSeed("relay chaos"),
    runs: CHAOS_RUNS,
    atOnce: 4,
  });
  console.error(`${whole} deeds whole, ${failed} attempts failed, ${connections} connections`);
});
