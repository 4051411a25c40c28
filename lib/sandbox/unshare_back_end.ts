import { ExecError } from "../errors.ts";
import { close } from "../linux/libc.ts";
import { fromBytes } from "./byte_path.ts";
import { fileView } from "./file_view.ts";
import { FirstProcess } from "./first_process.ts";
import { LauncherLaunch } from "./launcher_launch.ts";
import { launcherKind, planFile, takeReady } from "./launcher_words.ts";
import type { Mechanism, Premises } from "./mechanism.ts";
import { mountPlan } from "./mount_plan.ts";
import { neededMountPoints } from "./needed_mount_points.ts";
import { existing } from "./own_files.ts";
import type { AccessPlan } from "./policy.ts";
import { realTree } from "./real_tree.ts";
import type { ConfinedProgram, Enforcement, PreparedLaunch } from "./sandbox.ts";
import { networkFilter } from "./seccomp.ts";
import { tryMechanism } from "./trial.ts";
import { UNSHARE_PLACES, unshareArguments, unsharePlan } from "./unshare.ts";

export class UnshareMechanism implements Mechanism {
  readonly name = "unshare";
  readonly #premises: Premises;
  #unshare: string | undefined;

  constructor(premises: Premises) {
    this.#premises = premises;
  }

  obstacle(): undefined {}

  async test(): Promise<string | undefined> {
    this.#unshare = UNSHARE_PLACES.find((place) => existing(realTree, place).length > 0);
    return this.#unshare === undefined ? "it is not installed" : await tryMechanism(this, "view");
  }

  enforcement(plan: AccessPlan): Enforcement {
    const unshare = this.#unshare;
    if (unshare === undefined) throw new ExecError("sandboxUnavailable", "sandbox unavailable: there is no unshare");
    return {
      plan,
      backEnd: this.name,
      prepare: (program, signal) => this.#prepare(plan, unshare, program, signal),
      files: fileView(this.#premises, plan, (command) => unshareArguments(unshare, command, "restricted")),
    };
  }

  async #prepare(
    plan: AccessPlan,
    unshare: string,
    program: ConfinedProgram,
    signal: AbortSignal,
  ): Promise<PreparedLaunch> {
    const { mountPoints, tenancies, launchers, machine, hidden } = this.#premises;
    const mounts = mountPlan(plan, { scratch: "writable", hidden: hidden.now() });
    const filter = fromBytes(networkFilter(machine, plan.network));
    const kind = launcherKind((command) => unshareArguments(unshare, command, plan.network), true);
    await using scope = new AsyncDisposableStack();
    const lease = scope.use(await mountPoints.hold(neededMountPoints(plan), signal));
    const file = scope.adopt(planFile(unsharePlan(mounts, [filter], program)), close);
    const ready = scope.use(takeReady(launchers, kind, program));
    const first = ready?.first ?? scope.use(new FirstProcess());
    const report = ready === undefined ? [scope.adopt(first.report, close)] : [];
    scope.move(); // from here on they belong to the launch
    const letGo = tenancies.begin(lease, first);
    return new LauncherLaunch({ launchers, kind, ready, descriptors: [file, ...report], letGo });
  }
}
