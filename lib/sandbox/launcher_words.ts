import { ExecError } from "../errors.ts";
import { fromText } from "./byte_path.ts";
import type { LaunchPlan } from "./launcher/launch_plan.ts";
import { writePlan } from "./launcher/plan_file.ts";
import { type LauncherCommand, launcherCommand } from "./launcher_command.ts";
import type { LauncherKind, ReadyLauncher, ReadyLaunchers } from "./ready_launchers.ts";
import type { ConfinedProgram } from "./sandbox.ts";

/**
 * The plan as a descriptor for the launcher, the caller's to close.
 *
 * @throws {ExecError} `sandboxUnavailable` if it is too long or there is no memory for it.
 */
export function planFile(plan: LaunchPlan): number {
  const { file, argv, env, cwd } = plan.program;
  try {
    // What else is known of a program is no business of the launcher's, which takes nothing that it does not know.
    return writePlan({ ...plan, program: { file, argv, env, cwd } });
  } catch (error) {
    if (!(error instanceof Error)) throw error;
    throw new ExecError("sandboxUnavailable", `sandbox unavailable: ${error.message}`);
  }
}

/**
 * The command line and the environment of launchers.
 *
 * @param around What their command line becomes a part of.
 */
export function launcherKind(
  around: (command: LauncherCommand) => readonly string[],
  hasFirstProcess: boolean,
): LauncherKind {
  const command = launcherCommand();
  return {
    argv: around(command).map(fromText),
    env: Object.entries(command.env).map(([name, value]) => fromText(`${name}=${value}`)),
    hasFirstProcess,
  };
}

/** One that waits, for a program that it can be given to: it has a session already, which no terminal controls. */
export function takeReady(
  launchers: ReadyLaunchers,
  kind: LauncherKind,
  { onTerminal = false }: ConfinedProgram,
): ReadyLauncher | undefined {
  return onTerminal ? undefined : launchers.take(kind);
}
