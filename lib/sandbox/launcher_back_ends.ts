/** The back ends that need nothing but the launcher: it takes rights away from itself and becomes the program. */

import { fromBytes } from "./byte_path.ts";
import { landlockPlan } from "./landlock.ts";
import type { LaunchPlan } from "./launcher/launch_plan.ts";
import type { Mechanism, Premises } from "./mechanism.ts";
import { metadataFilter } from "./metadata_filter.ts";
import type { AccessPlan } from "./policy.ts";
import { OwnedLaunch } from "./prepared_launch.ts";
import type { ConfinedProgram, Enforcement } from "./sandbox.ts";
import { networkFilter } from "./seccomp.ts";
import { launchWords, planFile } from "./unshare_back_end.ts";

export class LandlockMechanism implements Mechanism {
  readonly #premises: Premises;

  constructor(premises: Premises) {
    this.#premises = premises;
  }

  enforcement(plan: AccessPlan): Enforcement {
    const { machine } = this.#premises;
    const filters = [networkFilter(machine, plan.network), metadataFilter(machine)].map(fromBytes);
    return launcherAlone(plan, "landlock", (program) => landlockPlan(plan, filters, program));
  }
}

export class FilterMechanism implements Mechanism {
  readonly #premises: Premises;

  constructor(premises: Premises) {
    this.#premises = premises;
  }

  enforcement(plan: AccessPlan): Enforcement {
    const filters = [fromBytes(networkFilter(this.#premises.machine, plan.network))];
    return launcherAlone(plan, "filter", (program) => ({ confinement: { kind: "filters" }, filters, program }));
  }
}

/** Such plans need no mount points: there is nothing that could be covered. */
function launcherAlone(
  plan: AccessPlan,
  backEnd: "landlock" | "filter",
  launchPlan: (program: ConfinedProgram) => LaunchPlan,
): Enforcement {
  return {
    plan,
    backEnd,
    // deno-lint-ignore require-await
    async prepare(program) {
      const { argv, env } = launchWords(({ argv }) => argv);
      return new OwnedLaunch({ path: argv[0]!, argv, env, descriptors: [planFile(launchPlan(program))] });
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
