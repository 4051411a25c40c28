/** Makes a failing conversation short. */
import type { FsScenario } from "./random_scenario.ts";

/**
 * Leaves out steps and entries, many at a time at first, as long as the conversation still fails.
 *
 * @param fails Plays a conversation.
 * @param giveUp When to be content with what is found, by `performance.now()`.
 */
export async function shorten(
  scenario: FsScenario,
  fails: (scenario: FsScenario) => Promise<boolean>,
  giveUp: number,
): Promise<FsScenario> {
  const steps = await fewer(scenario.steps, (steps) => fails({ ...scenario, steps }), giveUp);
  const tree = await fewer(scenario.tree, (tree) => fails({ tree, steps }), giveUp);
  return { tree, steps };
}

/** Some of them with which it still fails, in the same order. */
export async function fewer<T>(
  all: readonly T[],
  fails: (some: readonly T[]) => Promise<boolean>,
  giveUp: number,
): Promise<readonly T[]> {
  let kept = all;
  for (let size = Math.ceil(kept.length / 2); size >= 1; size = size === 1 ? 0 : Math.ceil(size / 2)) {
    // From the end: what comes first is more often needed by what comes after it.
    for (let end = kept.length; end > 0; end -= size) {
      if (performance.now() > giveUp) return kept;
      const some = [...kept.slice(0, Math.max(end - size, 0)), ...kept.slice(end)];
      if (await fails(some)) kept = some;
    }
  }
  return kept;
}
