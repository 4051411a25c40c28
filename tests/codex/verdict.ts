/** What a scenario says about our server: what came of it there, beside what came of it with Codex's own. */
import assert from "node:assert/strict";
import type { Outcome } from "./codex_run.ts";

export interface Verdict {
  readonly verdict: "passed" | "failed" | "skipped";
  /** Why it did not pass; empty if it did. */
  readonly reason: string;
}

export interface Runs {
  theirs(): Promise<Outcome>;
  ours(): Promise<Outcome>;
  /** @throws {Error} If it is not what must come of the scenario with the version that it was written for. */
  check(outcome: Outcome): void;
  /**
   * Codex is not of that version: what does not work with its own server either, or works in another way, is skipped,
   * because it says nothing about ours. What comes of it must be the same still.
   */
  readonly isOtherVersion: boolean;
}

/** Runs both, the reference first. */
export async function judge({ theirs, ours, check, isOtherVersion }: Runs): Promise<Verdict> {
  let expected: Outcome;
  try {
    expected = await theirs();
    if (!isOtherVersion) check(expected);
  } catch (error) {
    return { verdict: isOtherVersion ? "skipped" : "failed", reason: `through the reference: ${messageOf(error)}` };
  }
  try {
    const actual = await ours();
    if (!isOtherVersion) check(actual);
    assert.deepEqual(actual, expected);
  } catch (error) {
    return { verdict: "failed", reason: `through our server: ${messageOf(error)}` };
  }
  try {
    check(expected);
  } catch (error) {
    return { verdict: "skipped", reason: `the same through both, but not as it has to be: ${messageOf(error)}` };
  }
  return { verdict: "passed", reason: "" };
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
