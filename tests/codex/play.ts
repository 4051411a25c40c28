/** Runs the real Codex CLI through our server and through the reference, and compares what the model is told. */
import { WIRE_VERSION } from "../../lib/version.ts";
import type { ServerCommand } from "../program/running_server.ts";
import { show } from "../wire/mismatch.ts";
import { type Carrier, runCodex } from "./codex_run.ts";
import { COMMAND_SCENARIOS } from "./commands.ts";
import { FILE_SCENARIOS } from "./files.ts";
import { PLACE_SCENARIOS } from "./places.ts";
import { SANDBOX_SCENARIOS } from "./sandboxes.ts";
import type { Scenario } from "./scenario.ts";
import { judge } from "./verdict.ts";

export const SCENARIOS: readonly Scenario[] = [
  ...[...COMMAND_SCENARIOS, ...FILE_SCENARIOS, ...PLACE_SCENARIOS],
  ...SANDBOX_SCENARIOS,
];

export interface CodexOptions {
  /** The CLI, and what starts its own server; both come from one package. */
  readonly reference: ServerCommand;
  /** The version of both. */
  readonly version: string;
  /** Our server: a command without `--listen`, with absolute paths. */
  readonly ours: readonly string[];
  readonly carriers: readonly Carrier[];
  /** Only the runs whose title contains it. */
  readonly filter?: string;
}

const WORDS = { failed: "FAIL", skipped: "skip" };

export interface Counts {
  passed: number;
  failed: number;
  skipped: number;
}

/** Prints one line for each scenario and carrier. */
export async function playCodex({ reference, version, ours, carriers, filter = "" }: CodexOptions): Promise<Counts> {
  const counts = { passed: 0, failed: 0, skipped: 0 };
  const [cli] = reference;
  for (const { scenario, carrier, title } of runs(carriers).filter(({ title }) => title.includes(filter))) {
    const since = performance.now();
    const { verdict, reason } = await judge({
      theirs: () => runCodex({ cli, server: reference, carrier, scenario }),
      ours: () => runCodex({ cli, server: ours, carrier, scenario }),
      check: scenario.check,
      isOtherVersion: version !== WIRE_VERSION,
    });
    counts[verdict]++;
    const seconds = ((performance.now() - since) / 1000).toFixed(1);
    console.log(verdict === "passed" ? `ok   ${title} (${seconds} s)` : `${WORDS[verdict]} ${title}: ${show(reason)}`);
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
