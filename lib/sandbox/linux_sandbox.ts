import { systemClock } from "../clock.ts";
import { ExecError } from "../errors.ts";
import type { Log } from "../log.ts";
import { passwordEntry, realUserId } from "../linux/passwd.ts";
import { TestedBackEnd } from "./back_end.ts";
import { type BackEndReport, BackEnds } from "./back_ends.ts";
import { BubblewrapMechanism } from "./bubblewrap_back_end.ts";
import { fromText, normalized } from "./byte_path.ts";
import { expandInSlices } from "./expand_in_slices.ts";
import { HiddenFiles } from "./hidden_files.ts";
import { THIS_HOST } from "./launcher_command.ts";
import { FilterMechanism, LandlockMechanism } from "./launcher_back_ends.ts";
import type { Mechanism, Premises } from "./mechanism.ts";
import { recordPath, sharedDirectories } from "./mount_point_record_path.ts";
import { MountPoints } from "./mount_points.ts";
import { keepFromWriting, type OwnFile, ownFiles } from "./own_files.ts";
import type { AccessPlan, SandboxPolicy } from "./policy.ts";
import { ReadyLaunchers } from "./ready_launchers.ts";
import { realTree } from "./real_tree.ts";
import type { ConfinedProgram, Enforcement, Sandbox, SandboxOptions } from "./sandbox.ts";
import { ServerDirectory } from "./server_directory.ts";
import { Tenancies } from "./tenancies.ts";
import { UnshareMechanism } from "./unshare_back_end.ts";

/** The sandbox of a server on Linux; nothing is tried before the first policy restricts something. */
export function createSandbox(options: SandboxOptions): Promise<Sandbox> {
  return Promise.resolve(new LinuxSandbox(options));
}

class LinuxSandbox implements Sandbox {
  readonly isExternal: boolean;
  readonly #options: SandboxOptions;
  readonly #directory: ServerDirectory;
  readonly #mountPoints: MountPoints;
  readonly #tenancies: Tenancies;
  readonly #launchers: ReadyLaunchers;
  readonly #own: OwnFile[];
  readonly #bubblewrap: BubblewrapMechanism;
  readonly #unshare: TestedBackEnd<Mechanism>;
  readonly #backEnds: BackEnds<Mechanism>;

  constructor(options: SandboxOptions) {
    const { choice, log, secretPaths, clock = systemClock } = options;
    const uid = Deno.uid() ?? 0;
    const record = recordPath(Deno.env.get("XDG_RUNTIME_DIR"), uid);
    this.isExternal = choice === "external";
    this.#options = options;
    this.#directory = new ServerDirectory(record, uid);
    this.#mountPoints = new MountPoints({ directory: record, log, uid });
    this.#tenancies = new Tenancies(clock);
    this.#launchers = new ReadyLaunchers(clock);
    this.#own = ownFiles(THIS_HOST, import.meta.url, realTree, passwordEntry(realUserId())?.home);
    const premises: Premises = {
      machine: Deno.build.arch,
      mountPoints: this.#mountPoints,
      tenancies: this.#tenancies,
      launchers: this.#launchers,
      covers: () => this.#directory.covers(),
      hidden: new HiddenFiles(this.#directory, sharedDirectories(uid), secretPaths.map(absolute)),
    };
    this.#bubblewrap = new BubblewrapMechanism(premises);
    this.#unshare = tested(new UnshareMechanism(premises), log);
    this.#backEnds = new BackEnds<Mechanism>({
      choice,
      backEnds: {
        bubblewrap: tested(this.#bubblewrap, log),
        unshare: this.#unshare,
        landlock: tested(new LandlockMechanism(premises), log),
      },
      filter: tested(new FilterMechanism(premises), log),
    });
  }

  plan(policy: SandboxPolicy, signal: AbortSignal): AccessPlan | Promise<AccessPlan> {
    return expandInSlices(policy, realTree, signal);
  }

  async enforcement(asked: AccessPlan): Promise<Enforcement | null> {
    const plan = keepFromWriting(asked, this.#own);
    const backEnd = await this.#backEnds.choose(plan);
    if (backEnd === null) return null;
    this.#launchers.open();
    const enforcement = backEnd.launch.enforcement(plan);
    if (backEnd.launch !== this.#bubblewrap) return enforcement;
    const prepare: Enforcement["prepare"] = async (program, signal) => {
      const other = await this.#insteadOfBubblewrap(plan, program);
      return await (other ?? enforcement).prepare(program, signal);
    };
    return { ...enforcement, prepare };
  }

  report(): Promise<readonly BackEndReport[]> {
    return this.#backEnds.report();
  }

  /** To be called when all that was started has been killed. */
  [Symbol.dispose](): void {
    this.#launchers[Symbol.dispose]();
    this.#mountPoints.end(this.#tenancies.wait());
    this.#directory[Symbol.dispose]();
  }

  /** Another back end for a program that bubblewrap cannot start as it is to be started; undefined: it can. */
  async #insteadOfBubblewrap(plan: AccessPlan, program: ConfinedProgram): Promise<Enforcement | undefined> {
    const obstacle = this.#bubblewrap.programObstacle(plan, program);
    if (obstacle === undefined) return undefined;
    const reason = this.#options.choice === "auto"
      ? (await this.#unshare.available())?.reason
      : "it is not the one that was chosen";
    if (reason === undefined) return this.#unshare.launch.enforcement(plan);
    throw new ExecError("sandboxUnavailable", `sandbox unavailable: ${obstacle}; unshare: ${reason}`);
  }
}

function absolute(path: string): string {
  return fromText(normalized(path.startsWith("/") ? path : `${Deno.cwd()}/${path}`));
}

function tested(mechanism: Mechanism, log: Log): TestedBackEnd<Mechanism> {
  return new TestedBackEnd({
    name: mechanism.name,
    launch: mechanism,
    log,
    obstacle: (plan) => mechanism.obstacle(plan),
    test: () => mechanism.test(),
  });
}
