/** The part of the duel about files that runs in the confinement: both servers, what is told them, and the comparison. */
import fc from "fast-check";
import { OUR_RULES, REFERENCE_RULES } from "../../wire/differences.ts";
import { Mismatch } from "../../wire/mismatch.ts";
import { ownProgram } from "../../wire/target.ts";
import { Workspace } from "../../wire/workspace.ts";
import { assertConfined } from "./confinement.ts";
import { FsDuel } from "./fs_duel.ts";
import { FsSide } from "./fs_side.ts";
import { type FsScenario, scenarios } from "./random_scenario.ts";
import { shorten } from "./shorten.ts";

/** What is told the confined part, as JSON. */
export interface InsideOptions {
  /** The directory of the confinement. */
  readonly directory: string;
  /** Both programs; null for ours from source. */
  readonly reference: readonly string[] | null;
  readonly words: readonly string[] | null;
  readonly transport: "ws" | "stdio";
  readonly runs: number;
  readonly seed: number;
  readonly path: string | null;
  readonly strict: boolean;
}

/** Exit codes; any other says that something broke. */
export const ALIKE = 0, DIFFERENT = 3;

/** How long a failure is shortened, in milliseconds. */
const SHORTEN_MS = 60_000;

/** @returns True if both did the same in every conversation. */
async function run(options: InsideOptions): Promise<boolean> {
  const { transport, seed, runs, path } = options;
  await using stack = new AsyncDisposableStack();
  const [first, second] = await twins(stack);
  const start = async (name: string, words: readonly string[], workspace: Workspace) =>
    stack.use(await FsSide.start({ name, words, workspace }, transport));
  const reference = await start("the reference", options.reference ?? ownProgram().words, first);
  const ours = await start("our program", options.words ?? ownProgram().words, second);
  const duel = new FsDuel(reference, ours, options.strict ? REFERENCE_RULES : OUR_RULES);
  const since = performance.now();
  const outcome = await fc.check(fc.asyncProperty(scenarios, (scenario) => duel.play(scenario)), {
    seed,
    numRuns: path === null ? runs : 1,
    endOnFailure: true,
    ...(path === null ? {} : { path }),
  });
  const { conversations, compared, notified, keptBack, keptApart } = duel.counts;
  const seconds = ((performance.now() - since) / 1000).toFixed(1);
  const numbers =
    `${conversations} conversations, ${compared} requests answered and ${notified} notifications sent alike ` +
    `(${keptBack} kept back by the guard, ${keptApart} by deliberate differences; ${seconds} s)`;
  if (!outcome.failed) {
    console.log(`ok   fs ${transport}: ${numbers}`);
    return true;
  }
  const scenario = outcome.counterexample![0];
  console.log(`FAIL fs ${transport} after ${numbers}`);
  console.log(`repeat: --only fs --transport ${transport} --seed ${seed} --path ${outcome.counterexamplePath}`);
  if (!(outcome.errorInstance instanceof Mismatch)) throw outcome.errorInstance;
  let message = outcome.errorInstance.message;
  const fails = async (scenario: FsScenario): Promise<boolean> => {
    try {
      await duel.play(scenario);
      return false;
    } catch (error) {
      if (!(error instanceof Mismatch)) throw error;
      message = error.message;
      return true;
    }
  };
  const { tree, steps } = await shorten(scenario, fails, performance.now() + SHORTEN_MS);
  console.log(
    ["shortened:", ...tree.map((entry) => JSON.stringify(entry)), ...steps.map((step) => JSON.stringify(step))].join(
      "\n  ",
    ),
  );
  console.log(message);
  return false;
}

/** Two workspaces whose paths have as many letters: limits count them. The names of temporary directories vary. */
export async function twins(stack: AsyncDisposableStack): Promise<readonly [Workspace, Workspace]> {
  const first = stack.use(await Workspace.create());
  while (true) {
    const second = stack.use(await Workspace.create());
    if (second.cwd.length === first.cwd.length) return [first, second];
  }
}

if (import.meta.main) {
  const options = JSON.parse(Deno.args[0]!) as InsideOptions;
  assertConfined(options.directory);
  try {
    Deno.exit(await run(options) ? ALIKE : DIFFERENT);
  } catch (error) {
    if (error instanceof SuppressedError) console.error(error.suppressed);
    throw error;
  }
}
