/** Runs the real Codex CLI through our server and through the reference, and compares what the model is told. */
import assert from "node:assert/strict";
import type { ServerCommand } from "../program/running_server.ts";
import { show } from "../wire/mismatch.ts";
import { type Carrier, type CodexRun, type Outcome, runCodex } from "./codex_run.ts";
import { COMMAND_SCENARIOS } from "./commands.ts";
import { FILE_SCENARIOS } from "./files.ts";
import { PLACE_SCENARIOS } from "./places.ts";
import { SANDBOX_SCENARIOS } from "./sandboxes.ts";
import type { Scenario } from "./scenario.ts";

export const SCENARIOS: readonly Scenario[] = [
  ...[...COMMAND_SCENARIOS, ...FILE_SCENARIOS, ...PLACE_SCENARIOS],
  ...SANDBOX_SCENARIOS,
];

export interface CodexOptions {
  /** The CLI, and what starts its own server; both come from one package. */
  readonly reference: ServerCommand;
  /** Our server: a command without `--listen`, with absolute paths. */
  readonly ours: readonly string[];
  readonly carriers: readonly Carrier[];
  /** Only the runs whose title contains it. */
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
  for (const { scenario, carrier, title } of runs(carriers).filter(({ title }) => title.includes(filter))) {
    const since = performance.now();
    try {
      const expected = await checked("the reference", { cli, server: reference, carrier, scenario });
      const actual = await checked("our server", { cli, server: ours, carrier, scenario });
      assert.deepEqual(actual, expected);
      counts.passed++;
      console.log(`ok   ${title} (${((performance.now() - since) / 1000).toFixed(1)} s)`);
    } catch (error) {
      counts.failed++;
      console.log(`FAIL ${title}: ${show(error instanceof Error ? error.message : String(error))}`);
    }
  }
  return counts;
}

/** Where the CLI cannot be had: says so, and counts what was not done. */
export function skipCodex(carriers: readonly Carrier[]): Counts {
  const skipped = runs(carriers).length;
  console.log(`skip ${skipped} runs of the Codex CLI, which is the program that the reference is a part of`);
  return { passed: 0, failed: 0, skipped };
}

/** Scenarios with environments of their own use both carriers at once, and run once. */
function runs(carriers: readonly Carrier[]): { scenario: Scenario; carrier: Carrier; title: string }[] {
  return SCENARIOS.flatMap((scenario) => {
    const once = scenario.environments !== undefined;
    return carriers.slice(0, once ? 1 : undefined).map((carrier) => {
      return { scenario, carrier, title: `codex over ${once ? "both" : carrier}: ${scenario.name}` };
    });
  });
}

async function checked(who: string, run: CodexRun): Promise<Outcome> {
  try {
    const outcome = await runCodex(run);
    run.scenario.check(outcome);
    return outcome;
  } catch (error) {
    throw new Error(`through ${who}: ${error instanceof Error ? error.message : String(error)}`, { cause: error });
  }
}
