import { ExecError } from "../errors.ts";
import type { LazySandbox } from "./lazy_sandbox.ts";
import type { SandboxPolicy } from "./policy.ts";
import type { Enforcement } from "./sandbox.ts";

/** What a program is to be held to. */
export interface ProgramConfinement {
  readonly policy: SandboxPolicy;
  /** Nothing but the oldest way is wanted, which can hold no policy that restricts files. */
  readonly useLegacyLandlock: boolean;
}

/**
 * What holds a program to its confinement, as the machine is now; null: nothing is to be enforced.
 *
 * @throws {ExecError} `sandboxUnavailable`, with what is missing.
 */
export async function confineProgram(
  lazySandbox: LazySandbox,
  { policy, useLegacyLandlock }: ProgramConfinement,
  signal: AbortSignal,
): Promise<Enforcement | null> {
  const sandbox = await lazySandbox.get();
  const plan = await sandbox.plan(policy, signal);
  if (useLegacyLandlock && !plan.fullWrite) {
    throw new ExecError(
      "sandboxUnavailable",
      "sandbox unavailable: useLegacyLandlock cannot be held where files are restricted",
    );
  }
  return await sandbox.enforcement(plan);
}
