import assert from "node:assert/strict";
import { announcedSeed } from "../../program/random.ts";
import { relayTest } from "../support/rig.ts";
import { faultRun } from "./fault_run.ts";

/** `deno task soak` makes many more. */
const RUNS = 4;
/** Of a run that loses many records. */
const BAD_SEED = 5;

relayTest(
  "whatever is lost, doubled, late, changed or swapped: no command runs twice, and no output has a gap",
  async () => {
    assert.ok((await faultRun(BAD_SEED)).connections > 3, "there were troubles");
    const seed = announcedSeed("relay faults");
    for (let run = 0; run < RUNS; run++) await faultRun(seed + run);
  },
);
