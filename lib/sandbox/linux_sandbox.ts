import { systemClock } from "../clock.ts";
import { landlockVersion } from "../linux/sandbox_calls.ts";
import { TestedBackEnd } from "./back_end.ts";
import { type BackEndReport, BackEnds } from "./back_ends.ts";
import { BubblewrapMechanism } from "./bubblewrap_back_end.ts";
import { fromText } from "./byte_path.ts";
import { decidingRule } from "./access.ts";
import { expandInSlices } from "./expand_in_slices.ts";
import { type Bubblewrap, findBubblewrap } from "./find_bubblewrap.ts";
import { HiddenFiles } from "./hidden_files.ts";
import { landlockObstacle } from "./landlock.ts";
import { THIS_HOST } from "./launcher_command.ts";
import { FilterMechanism, LandlockMechanism } from "./launcher_back_ends.ts";
import type { Mechanism, Premises } from "./mechanism.ts";
import { MountPoints } from "./mount_points.ts";
import { recordPath } from "./mount_point_record_path.ts";
import { keepFromWriting, type OwnFile, ownFiles } from "./own_files.ts";
import type { AccessPlan, SandboxPolicy } from "./policy.ts";
import { probeCommand } from "./probe_command.ts";
import { realTree } from "./real_tree.ts";
import { runToEnd } from "./run_to_end.ts";
import type { Enforcement, Sandbox, SandboxOptions } from "./sandbox.ts";
import { type RunTrial, selfTest, type Strength } from "./self_test.ts";
import { ServerDirectory } from "./server_directory.ts";
import { Tenancies } from "./tenancies.ts";
import { findUnshare, UnshareMechanism } from "./unshare_back_end.ts";

/** The sandbox of a server on Linux; nothing is tried before the first policy restricts something. */
export function createSandbox(options: SandboxOptions): Promise<Sandbox> {
  return Promise.resolve(new LinuxSandbox(options));
}

class LinuxSandbox implements Sandbox {
  readonly isExternal: boolean;
  readonly #backEnds: BackEnds<Mechanism>;
  readonly #mountPoints: MountPoints;
  readonly #tenancies: Tenancies;
  readonly #directory: ServerDirectory;
  readonly #own: OwnFile[];
  readonly #hidden: HiddenFiles;
  #bubblewrap: Bubblewrap | undefined;

  constructor({ choice, log, secretPaths, clock = systemClock }: SandboxOptions) {
    const uid = Deno.uid() ?? 0;
    this.isExternal = choice === "external";
    const record = recordPath(Deno.env.get("XDG_RUNTIME_DIR"), uid);
    this.#directory = new ServerDirectory(record, uid);
    this.#mountPoints = new MountPoints({ directory: record, log, uid });
    this.#tenancies = new Tenancies(clock);
    this.#own = ownFiles(THIS_HOST, import.meta.url, realTree);
    this.#hidden = new HiddenFiles(this.#directory, secretPaths.map(fromText));
    const premises: Premises = {
      machine: Deno.build.arch,
      log,
      mountPoints: this.#mountPoints,
      tenancies: this.#tenancies,
      covers: () => this.#directory.covers(),
      hidden: () => this.#hidden.now(),
    };
    const bubblewrap = new BubblewrapMechanism(premises, () => this.#bubblewrap!);
    const unshare = new UnshareMechanism(premises);
    const landlock = new LandlockMechanism(premises);
    const filter = new FilterMechanism(premises);
    this.#backEnds = new BackEnds<Mechanism>({
      choice,
      backEnds: {
        bubblewrap: new TestedBackEnd<Mechanism>({
          name: "bubblewrap",
          launch: bubblewrap,
          obstacle: (plan) => this.#bubblewrapObstacle(plan),
          test: async () => {
            const found = await findBubblewrap({ searchPath: Deno.env.get("PATH"), cwd: Deno.cwd() });
            if (typeof found === "string") return found;
            this.#bubblewrap = found;
            return await tried("view", bubblewrap);
          },
        }),
        unshare: new TestedBackEnd<Mechanism>({
          name: "unshare",
          launch: unshare,
          test: async () => findUnshare() === undefined ? "it is not installed" : await tried("view", unshare),
        }),
        landlock: new TestedBackEnd<Mechanism>({
          name: "landlock",
          launch: landlock,
          obstacle: (plan) => landlockObstacle(this.#withHidden(plan), landlockVersion()),
          test: () => tried("grants", landlock),
        }),
      },
      filter: new TestedBackEnd<Mechanism>({ name: "filter", launch: filter, test: () => tried("filter", filter) }),
    });
  }

  plan(policy: SandboxPolicy, signal: AbortSignal): AccessPlan | Promise<AccessPlan> {
    return expandInSlices(policy, realTree, signal);
  }

  async enforcement(plan: AccessPlan): Promise<Enforcement | null> {
    const kept = keepFromWriting(plan, this.#own);
    const backEnd = await this.#backEnds.choose(kept);
    return backEnd === null ? null : backEnd.launch.enforcement(kept);
  }

  report(): Promise<readonly BackEndReport[]> {
    return this.#backEnds.report();
  }

  [Symbol.dispose](): void {
    this.#mountPoints.end(this.#tenancies.wait());
    this.#directory[Symbol.dispose]();
  }

  /** What runs outside of the sandbox must not come from where programs may write. */
  #bubblewrapObstacle(plan: AccessPlan): string | undefined {
    const path = this.#bubblewrap?.path;
    if (path === undefined) return undefined;
    const rule = decidingRule(plan, path);
    return rule?.access === "write" ? "the sandbox could write to it" : undefined;
  }

  /** For Landlock, which can hide nothing: as denials. */
  #withHidden(plan: AccessPlan): AccessPlan {
    const denied = this.#hidden.secrets().filter(({ path }) => !plan.rules.some((rule) => rule.path === path));
    return {
      ...plan,
      rules: [...plan.rules, ...denied.map((file) => ({ ...file, access: "deny" as const, isProtection: false }))],
    };
  }
}

function tried(strength: Strength, mechanism: Mechanism): Promise<string | undefined> {
  const run: RunTrial = async ({ plan, argv, env, cwd }, signal) => {
    const variables = Object.entries(env).map(([name, value]) => fromText(`${name}=${value}`));
    const program = { file: fromText(argv[0]!), argv: argv.map(fromText), env: variables, cwd };
    return await runToEnd(await mechanism.enforcement(plan).prepare(program, signal), signal);
  };
  return selfTest({ strength, run, probe: probeCommand() });
}
