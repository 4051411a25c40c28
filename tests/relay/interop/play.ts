/** The relay with the reference at one of its ends, or at none. */
import { show } from "../../wire/mismatch.ts";
import { clientRuns } from "./client_harness.ts";
import { codexRuns, type Programs } from "./codex_harness.ts";
import { randomRuns } from "./random.ts";
import type { Run } from "./run.ts";

export interface Counts {
  passed: number;
  failed: number;
  skipped: number;
}

/**
 * Prints one line for each run.
 *
 * @param filter Only runs whose title contains it.
 */
export async function playRelay(programs: Programs & { readonly seed: number }, filter = ""): Promise<Counts> {
  const counts = { passed: 0, failed: 0, skipped: 0 };
  for (const { title, run } of runs(programs).filter(({ title }) => title.includes(filter))) {
    const since = performance.now();
    try {
      await run();
      counts.passed++;
      console.log(`ok   relay: ${title} (${((performance.now() - since) / 1000).toFixed(1)} s)`);
    } catch (error) {
      counts.failed++;
      console.log(`FAIL relay: ${title}: ${show(error instanceof Error ? error.message : String(error))}`);
    }
  }
  return counts;
}

/** Where the reference cannot be had: says so, and counts what was not done. */
export function skipRelay(): Counts {
  const skipped = runs({ cli: "", reference: [], ours: [], seed: 0 }).length;
  console.log(`skip ${skipped} runs of the relay, which are there to compare with the reference`);
  return { passed: 0, failed: 0, skipped };
}

function runs(programs: Programs & { readonly seed: number }): Run[] {
  return [...randomRuns(programs), ...clientRuns(programs), ...codexRuns(programs)];
}
