import { ExecError } from "../errors.ts";
import { close } from "../linux/libc.ts";
import { viewOfFiles } from "./bubblewrap_back_end.ts";
import { fromBytes, fromText } from "./byte_path.ts";
import { FirstProcess } from "./first_process.ts";
import type { LaunchPlan } from "./launcher/launch_plan.ts";
import { writePlan } from "./launcher/plan_file.ts";
import { launcherCommand } from "./launcher_command.ts";
import type { Mechanism, Premises } from "./mechanism.ts";
import { mountPlan } from "./mount_plan.ts";
import { neededMountPoints } from "./needed_mount_points.ts";
import { existing } from "./own_files.ts";
import type { AccessPlan } from "./policy.ts";
import { OwnedLaunch } from "./prepared_launch.ts";
import { realTree } from "./real_tree.ts";
import type { ConfinedProgram, Enforcement, PreparedLaunch } from "./sandbox.ts";
import { networkFilter } from "./seccomp.ts";
import { UNSHARE_PLACES, unshareArguments, unsharePlan } from "./unshare.ts";

/** The `unshare` of this machine. */
export function findUnshare(): string | undefined {
  return UNSHARE_PLACES.find((place) => existing(realTree, place).length > 0);
}

export class UnshareMechanism implements Mechanism {
  readonly #premises: Premises;

  constructor(premises: Premises) {
    this.#premises = premises;
  }

  enforcement(plan: AccessPlan): Enforcement {
    const unshare = findUnshare();
    if (unshare === undefined) throw new ExecError("sandboxUnavailable", "sandbox unavailable: unshare has gone");
    return {
      plan,
      backEnd: "unshare",
      prepare: (program, signal) => this.#prepare(plan, unshare, program, signal),
      files: viewOfFiles(this.#premises, plan, (command) => unshareArguments(unshare, command, "restricted")),
    };
  }

  async #prepare(
    plan: AccessPlan,
    unshare: string,
    program: ConfinedProgram,
    signal: AbortSignal,
  ): Promise<PreparedLaunch> {
    const { mountPoints, tenancies, machine } = this.#premises;
    const mounts = mountPlan(plan, { scratch: "writable", hidden: this.#premises.hidden() });
    await using scope = new AsyncDisposableStack();
    const lease = scope.use(await mountPoints.hold(neededMountPoints(plan), signal));
    const first = scope.use(new FirstProcess());
    const report = scope.adopt(first.report, close);
    const filter = fromBytes(networkFilter(machine, plan.network));
    const file = scope.adopt(planFile(unsharePlan(mounts, [filter], program)), close);
    scope.move(); // it is the launch's now
    const { argv, env } = launchWords((command) => unshareArguments(unshare, command, plan.network));
    const letGo = tenancies.begin(lease, first);
    return new OwnedLaunch({ path: argv[0]!, argv, env, descriptors: [file, report], letGo });
  }
}

/** @throws {ExecError} `sandboxUnavailable` if the plan cannot be handed over. */
export function planFile(plan: LaunchPlan): number {
  try {
    return writePlan(plan);
  } catch (error) {
    if (!(error instanceof Error)) throw error;
    throw new ExecError("sandboxUnavailable", `sandbox unavailable: ${error.message}`);
  }
}

/** The command line and the environment of the launcher, as bytes. */
export function launchWords(
  around: (command: ReturnType<typeof launcherCommand>) => readonly string[],
): { readonly argv: string[]; readonly env: string[] } {
  const command = launcherCommand();
  return {
    argv: around(command).map(fromText),
    env: Object.entries(command.env).map(([name, value]) => fromText(`${name}=${value}`)),
  };
}
