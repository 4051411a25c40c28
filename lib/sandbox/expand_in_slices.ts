import { expandPolicySteps } from "./expand_policy.ts";
import type { FileTree } from "./file_tree.ts";
import type { AccessPlan, SandboxPolicy } from "./policy.ts";
import type { SpelledEntry } from "./spelled_entries.ts";

/** How long to work without a break, in ms: others have their answers to wait for. */
const SLICE_MS = 5;

/** {@linkcode expandPolicy} that gives way to others: at once where it is quick, as it nearly always is. */
export function expandInSlices(
  policy: SandboxPolicy,
  tree: FileTree,
  signal: AbortSignal,
  runtime?: readonly SpelledEntry[],
): AccessPlan | Promise<AccessPlan> {
  const steps = expandPolicySteps(policy, tree, runtime);
  return slice(steps) ?? theRest(steps, signal);
}

async function theRest(steps: Generator<void, AccessPlan>, signal: AbortSignal): Promise<AccessPlan> {
  for (;;) {
    await new Promise<void>((resolve) => setTimeout(resolve, 0));
    signal.throwIfAborted();
    const plan = slice(steps);
    if (plan !== undefined) return plan;
  }
}

function slice(steps: Generator<void, AccessPlan>): AccessPlan | undefined {
  const until = performance.now() + SLICE_MS;
  do {
    const step = steps.next();
    if (step.done) return step.value;
  } while (performance.now() < until);
  return undefined;
}
