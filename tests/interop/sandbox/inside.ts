/** The part of the duel in sandboxes that runs in the confinement: both servers, what is told them, and the comparison. */
import fc from "fast-check";
import { Mismatch } from "../../wire/mismatch.ts";
import { assertConfined } from "../fs/confinement.ts";
import { FsSide } from "../fs/fs_side.ts";
import { ALIKE, DIFFERENT, type InsideOptions, twins } from "../fs/inside.ts";
import { fewer } from "../fs/shorten.ts";
import { ownProgram } from "../../wire/target.ts";
import type { Workspace } from "../../wire/workspace.ts";
import { type SandboxScenario, scenarios } from "./random_scenario.ts";
import { SandboxDuel } from "./sandbox_duel.ts";

/** How long a failure is shortened, in milliseconds. */
const SHORTEN_MS = 90_000;

/** @returns True if both did the same in every conversation. */
async function run(options: InsideOptions): Promise<boolean> {
  const { transport, seed, runs, path } = options;
  await using stack = new AsyncDisposableStack();
  const [first, second] = await twins(stack);
  const start = async (name: string, words: readonly string[], workspace: Workspace) => {
    // The reference makes no helpers for itself in a home that lies where temporary files do.
    const temporary = `${workspace.root}/tmp`;
    await Deno.mkdir(temporary);
    return stack.use(
      await FsSide.start({ name, words: ["/usr/bin/env", `TMPDIR=${temporary}`, ...words], workspace }, transport),
    );
  };
  const reference = await start("the reference", options.reference ?? ownProgram().words, first);
  const ours = await start("our program", options.words ?? ownProgram().words, second);
  const duel = new SandboxDuel(reference, ours, options.strict);
  const since = performance.now();
  const outcome = await fc.check(fc.asyncProperty(scenarios, (scenario) => duel.play(scenario)), {
    seed,
    numRuns: path === null ? runs : 1,
    endOnFailure: true,
    ...(path === null ? {} : { path }),
  });
  const { conversations, requests, programs, keptBack, allowed } = duel.counts;
  const seconds = ((performance.now() - since) / 1000).toFixed(1);
  const numbers = `${conversations} conversations, ${requests} requests and ${programs} programs answered alike ` +
    `(${keptBack} kept back; ${seconds} s)`;
  const differences = [...allowed].map(([why, count]) => `\n     ${count} × ${why}`).join("");
  if (!outcome.failed) {
    console.log(`ok   sandbox ${transport}: ${numbers}${differences}`);
    return true;
  }
  console.log(`FAIL sandbox ${transport} after ${numbers}`);
  console.log(`repeat: --only sandbox --transport ${transport} --seed ${seed} --path ${outcome.counterexamplePath}`);
  if (!(outcome.errorInstance instanceof Mismatch)) throw outcome.errorInstance;
  const [shorter, message] = await shortened(duel, outcome.counterexample![0], outcome.errorInstance.message);
  const { tree, policy, steps } = shorter;
  const lines = [...tree.map((entry) => JSON.stringify(entry)), ...policy.entries, policy.around];
  console.log(["shortened:", ...lines, ...steps.map((step) => JSON.stringify(step))].join("\n  "));
  console.log(message);
  return false;
}

/** The same failure with less of everything, and what it says. */
async function shortened(
  duel: SandboxDuel,
  scenario: SandboxScenario,
  said: string,
): Promise<readonly [SandboxScenario, string]> {
  let message = said;
  const fails = async (scenario: SandboxScenario): Promise<boolean> => {
    try {
      await duel.play(scenario);
      return false;
    } catch (error) {
      if (!(error instanceof Mismatch)) throw error;
      message = error.message;
      return true;
    }
  };
  const giveUp = performance.now() + SHORTEN_MS;
  let { tree, policy, steps } = scenario;
  steps = await fewer(steps, (steps) => fails({ tree, policy, steps }), giveUp);
  const entries = await fewer(
    policy.entries,
    (entries) => fails({ tree, policy: { ...policy, entries }, steps }),
    giveUp,
  );
  policy = { ...policy, entries };
  tree = await fewer(tree, (tree) => fails({ tree, policy, steps }), giveUp);
  const last = steps.at(-1);
  if (last !== undefined && "operations" in last) {
    const rest = steps.slice(0, -1);
    const andLast = (operations: typeof last.operations) => [...rest, { ...last, operations }];
    steps = andLast(await fewer(last.operations, (some) => fails({ tree, policy, steps: andLast(some) }), giveUp));
  }
  const shorter = { tree, policy, steps };
  await fails(shorter); // for its message
  return [shorter, message];
}

if (import.meta.main) {
  const options = JSON.parse(Deno.args[0]!) as InsideOptions;
  assertConfined(options.directory, "/tmp");
  try {
    Deno.exit(await run(options) ? ALIKE : DIFFERENT);
  } catch (error) {
    if (error instanceof SuppressedError) console.error(error.suppressed);
    throw error;
  }
}
