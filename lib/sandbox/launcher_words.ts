import { ExecError } from "../errors.ts";
import { fromText } from "./byte_path.ts";
import type { LaunchPlan } from "./launcher/launch_plan.ts";
import { writePlan } from "./launcher/plan_file.ts";
import { type LauncherCommand, launcherCommand } from "./launcher_command.ts";

/**
 * The plan as a descriptor for the launcher, the caller's to close.
 *
 * @throws {ExecError} `sandboxUnavailable` if it is too long or there is no memory for it.
 */
export function planFile(plan: LaunchPlan): number {
  try {
    return writePlan(plan);
  } catch (error) {
    if (!(error instanceof Error)) throw error;
    throw new ExecError("sandboxUnavailable", `sandbox unavailable: ${error.message}`);
  }
}

/**
 * The command line and the environment of the launcher, as bytes.
 *
 * @param around What its command line becomes a part of.
 */
export function launcherWords(
  around: (command: LauncherCommand) => readonly string[],
): { readonly argv: string[]; readonly env: string[] } {
  const command = launcherCommand();
  return {
    argv: around(command).map(fromText),
    env: Object.entries(command.env).map(([name, value]) => fromText(`${name}=${value}`)),
  };
}
