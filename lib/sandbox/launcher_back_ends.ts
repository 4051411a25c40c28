/** The back ends that need nothing but the launcher: it takes rights away from itself and becomes the program. */

import { landlockVersion } from "../linux/sandbox_calls.ts";
import { mayWrite } from "./access.ts";
import { fromBytes } from "./byte_path.ts";
import { landlockObstacle, landlockPlan } from "./landlock.ts";
import type { LaunchPlan } from "./launcher/launch_plan.ts";
import { LauncherLaunch } from "./launcher_launch.ts";
import { launcherKind, planFile, takeReady } from "./launcher_words.ts";
import type { Mechanism, Premises } from "./mechanism.ts";
import { metadataFilter } from "./metadata_filter.ts";
import type { AccessPlan } from "./policy.ts";
import type { ReadyLaunchers } from "./ready_launchers.ts";
import type { ConfinedProgram, Enforcement } from "./sandbox.ts";
import { networkFilter } from "./seccomp.ts";
import { tryMechanism } from "./trial.ts";

const SHOWS_SECRETS = "Landlock cannot hide the files of the server's own tokens, which this policy lets be read";

export class LandlockMechanism implements Mechanism {
  readonly name = "landlock";
  readonly #premises: Premises;

  constructor(premises: Premises) {
    this.#premises = premises;
  }

  /** It can cover nothing, so what is to be hidden must not be granted in the first place. */
  obstacle(plan: AccessPlan): string | undefined {
    const { hidden } = this.#premises;
    const rules = new Map(plan.rules.map((rule) => [rule.path, rule]));
    for (const file of hidden.directories()) {
      // That they can be read does no harm.
      if (mayWrite(plan, file.path)) rules.set(file.path, { ...file, access: "read", isProtection: false });
    }
    const version = landlockVersion();
    const obstacle = landlockObstacle({ ...plan, rules: [...rules.values()] }, version);
    if (obstacle !== undefined) return obstacle;
    for (const file of hidden.secrets()) rules.set(file.path, { ...file, access: "deny", isProtection: false });
    return landlockObstacle({ ...plan, rules: [...rules.values()] }, version) && SHOWS_SECRETS;
  }

  test(): Promise<string | undefined> {
    return tryMechanism(this, "grants");
  }

  enforcement(plan: AccessPlan): Enforcement {
    const { machine } = this.#premises;
    const filters = [networkFilter(machine, plan.network), metadataFilter(machine)].map(fromBytes);
    return launcherAlone(this.#premises.launchers, plan, this.name, (program) => landlockPlan(plan, filters, program));
  }
}

export class FilterMechanism implements Mechanism {
  readonly name = "filter";
  readonly #premises: Premises;

  constructor(premises: Premises) {
    this.#premises = premises;
  }

  obstacle(): undefined {}

  test(): Promise<string | undefined> {
    return tryMechanism(this, "filter");
  }

  enforcement(plan: AccessPlan): Enforcement {
    const filters = [fromBytes(networkFilter(this.#premises.machine, plan.network))];
    return launcherAlone(
      this.#premises.launchers,
      plan,
      this.name,
      (program) => ({ confinement: { kind: "filters" }, filters, program }),
    );
  }
}

/** Such plans need no mount points: there is nothing that could be covered. */
function launcherAlone(
  launchers: ReadyLaunchers,
  plan: AccessPlan,
  backEnd: Enforcement["backEnd"],
  launchPlan: (program: ConfinedProgram) => LaunchPlan,
): Enforcement {
  return {
    plan,
    backEnd,
    // deno-lint-ignore require-await
    async prepare(program) {
      const kind = launcherKind(({ argv }) => argv, false);
      const descriptors = [planFile(launchPlan(program))] as const;
      return new LauncherLaunch({ launchers, kind, ready: takeReady(launchers, kind, program), descriptors });
    },
    files: {
      arguments: ({ argv }) => argv,
      get confinement() {
        return launchPlan(NO_PROGRAM).confinement;
      },
      hold: () => Promise.resolve({ [Symbol.asyncDispose]: () => Promise.resolve() }),
    },
  };
}

const NO_PROGRAM: ConfinedProgram = { file: "/", argv: ["/"], env: [], cwd: "/" };
