/** Runs the real Codex CLI through our server and through the reference, and compares what the model is told. */
import assert from "node:assert/strict";
import { type Carrier, type Outcome, runCodex } from "./codex_run.ts";
import { COMMAND_SCENARIOS } from "./commands.ts";
import { FILE_SCENARIOS } from "./files.ts";
import { PLACE_SCENARIOS } from "./places.ts";
import type { Scenario } from "./scenario.ts";

export const SCENARIOS: readonly Scenario[] = [...COMMAND_SCENARIOS, ...FILE_SCENARIOS, ...PLACE_SCENARIOS];

export interface CodexOptions {
  /** The CLI, and what starts its own server; both come from one package. */
  readonly reference: readonly [cli: string, ...args: string[]];
  /** Our server: a command without `--listen`, with absolute paths. */
  readonly ours: readonly string[];
  readonly carriers: readonly Carrier[];
  /** Only the scenarios whose name contains it. */
  readonly filter?: string;
}

export interface Counts {
  passed: number;
  failed: number;
  skipped: number;
}

/** Prints one line for each scenario and carrier. */
export async function playCodex({ reference, ours, carriers, filter = "" }: CodexOptions): Promise<Counts> {
  const counts = { passed: 0, failed: 0, skipped: 0 };
  const [cli] = reference;
  for (const scenario of SCENARIOS.filter(({ name }) => name.includes(filter))) {
    for (const carrier of scenario.environments === undefined ? carriers : carriers.slice(0, 1)) {
      const title = `codex over ${scenario.environments === undefined ? carrier : "both"}: ${scenario.name}`;
      const since = performance.now();
      try {
        const expected = await checked(scenario, "the reference", { cli, server: reference, carrier, scenario });
        const actual = await checked(scenario, "our server", { cli, server: ours, carrier, scenario });
        assert.deepEqual(actual, expected, "the model was told something else than by the reference, or files differ");
        counts.passed++;
        console.log(`ok   ${title} (${((performance.now() - since) / 1000).toFixed(1)} s)`);
      } catch (error) {
        counts.failed++;
        console.log(`FAIL ${title}: ${error instanceof Error ? error.message : String(error)}`);
      }
    }
  }
  return counts;
}

async function checked(scenario: Scenario, who: string, run: Parameters<typeof runCodex>[0]): Promise<Outcome> {
  try {
    const outcome = await runCodex(run);
    scenario.check(outcome);
    return outcome;
  } catch (error) {
    throw new Error(`through ${who}: ${error instanceof Error ? error.message : String(error)}`, { cause: error });
  }
}
