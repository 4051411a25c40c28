/** The real Codex CLI as a harness, through the test rendezvous: with executors and forwarders, ours and the reference's. */
import assert from "node:assert/strict";
import { type Outcome, runCodex } from "../../codex/codex_run.ts";
import { SCENARIOS } from "../../codex/play.ts";
import type { Run } from "./run.ts";
import { RelayReach, type ThroughRelay } from "./reach.ts";
import { RELAY_CASES, type RelayCase } from "./relay_cases.ts";

export interface Programs {
  /** The CLI. */
  readonly cli: string;
  /** What starts its executor, up to and without `--remote`. */
  readonly reference: readonly string[];
  /** The same of ours, with absolute paths. */
  readonly ours: readonly string[];
}

/** What the harness sees must be the same whoever executes, or forwards. */
export function codexRuns({ cli, reference, ours }: Programs): Run[] {
  const usual: Omit<RelayCase, "scenario"> = { prepare: () => {}, asked: { register: 1, connect: 1, validate: 1 } };
  const all = [
    // Scenarios with environments of their own say how those are reached.
    ...SCENARIOS.filter(({ environments }) => environments === undefined).map((scenario) => ({ scenario, ...usual })),
    ...RELAY_CASES,
  ];
  return all.flatMap((each) => {
    const expected = once(() => outcome(cli, each, { server: reference, role: "executor" }));
    return (["executor", "forward"] as const).map((role) => ({
      title: `the reference's harness and our ${role === "forward" ? "forwarder" : role}: ${each.scenario.name}`,
      run: async () => {
        assert.deepEqual(
          await said("ours", outcome(cli, each, { server: ours, role })),
          await said("the reference's executor", expected()),
        );
      },
    }));
  });
}

async function outcome(cli: string, { scenario, prepare, asked }: RelayCase, through: ThroughRelay): Promise<Outcome> {
  const reach = new RelayReach({ ...through, prepare });
  const outcome = await runCodex({ cli, server: [], carrier: reach.reach, scenario: scenario });
  scenario.check(outcome);
  for (const [route, count] of Object.entries(asked)) {
    assert.equal(reach.asked.filter((each) => each === route).length, count, `requests to ${route}`);
  }
  return outcome;
}

/** @throws {Error} That says through whom. */
async function said<T>(who: string, promise: Promise<T>): Promise<T> {
  try {
    return await promise;
  } catch (error) {
    throw new Error(`through ${who}: ${error instanceof Error ? error.message : String(error)}`, { cause: error });
  }
}

/** The same promise for all who ask. */
function once<T>(make: () => Promise<T>): () => Promise<T> {
  let made: Promise<T> | undefined;
  return () => made ??= make();
}
