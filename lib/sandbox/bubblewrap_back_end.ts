import { ExecError } from "../errors.ts";
import { close } from "../linux/libc.ts";
import { ownDirectory } from "../own_directory.ts";
import { mayWrite } from "./access.ts";
import { bubblewrapLaunch, isBind, MAX_BINDS, MAX_WORDS } from "./bubblewrap.ts";
import { toText } from "./byte_path.ts";
import { fileView } from "./file_view.ts";
import { type Bubblewrap, findBubblewrap } from "./find_bubblewrap.ts";
import { FirstProcess } from "./first_process.ts";
import type { Mechanism, Premises } from "./mechanism.ts";
import { memoryFile } from "./memory_file.ts";
import { type Mount, mountPlan } from "./mount_plan.ts";
import { neededMountPoints } from "./needed_mount_points.ts";
import { notRun } from "./not_run.ts";
import { openBinds } from "./open_binds.ts";
import type { AccessPlan } from "./policy.ts";
import { OwnedLaunch } from "./prepared_launch.ts";
import { lookUpProgram } from "./program_lookup.ts";
import { realTree } from "./real_tree.ts";
import type { ConfinedProgram, Enforcement, PreparedLaunch } from "./sandbox.ts";
import { networkFilter } from "./seccomp.ts";
import { tryMechanism } from "./trial.ts";

/** The descriptors of bubblewrap, in this order. */
const OPTIONS_FD = 3, SECCOMP_FD = 4, INFO_FD = 5, FIRST_BIND_FD = 6;

/** `--setenv NAME VALUE`; `--perms MODE --tmpfs PATH` is the longest; all other options, with room to spare. */
const WORDS_OF_A_VARIABLE = 3, WORDS_OF_A_MOUNT = 4, OTHER_WORDS = 40;

/** A helper for files makes its own mounts, over all that there is at first. */
const HELPER_OPTIONS = [
  ...["--unshare-user", "--unshare-pid", "--unshare-ipc", "--unshare-net", "--die-with-parent"],
  ...["--cap-add", "ALL", "--dev-bind", "/", "/", "--proc", "/proc"],
];

/** What runs, outside, in the place of a program that cannot be run; it says what the launcher would say. */
const STAND_IN = 'printf "%s\\n" "$1" >&2; exit "$2"';
const SHELL = "/bin/sh";

export class BubblewrapMechanism implements Mechanism {
  readonly name = "bubblewrap";
  readonly #premises: Premises;
  #found: Bubblewrap | undefined;

  constructor(premises: Premises) {
    this.#premises = premises;
  }

  /**
   * What runs outside of the sandbox must not come from where programs may write. Whoever may write to the system's own
   * places needs no bubblewrap for what he wants.
   */
  obstacle(plan: AccessPlan): string | undefined {
    if (this.#found === undefined || this.#found.isTheSystems) return undefined;
    return mayWrite(plan, this.#found.path) ? "the sandbox could write to it" : undefined;
  }

  async test(): Promise<string | undefined> {
    const found = await findBubblewrap({ searchPath: Deno.env.get("PATH"), cwd: ownDirectory() });
    if (typeof found === "string") return found;
    this.#found = found;
    return await tryMechanism(this, "view");
  }

  enforcement(plan: AccessPlan): Enforcement {
    const program = toText(this.#bubblewrap.path);
    return {
      plan,
      backEnd: this.name,
      prepare: (program, signal) => this.#prepare(plan, program, signal),
      files: fileView(this.#premises, plan, ({ argv }) => [program, ...HELPER_OPTIONS, "--", ...argv]),
    };
  }

  /** Why this version cannot start a program as it is to be started; undefined: it can. */
  programObstacle(plan: AccessPlan, { file, argv, env }: ConfinedProgram): string | undefined {
    const { version } = this.#bubblewrap;
    if (argv[0] !== file && !version.setsProgramName) {
      return `bubblewrap ${version.text} cannot give a program another name (0.9.0 can)`;
    }
    if (env.some((variable) => variable.indexOf("=") < 1)) return "bubblewrap takes no variable without a name";
    const mounts = this.#mounts(plan);
    if (mounts.filter(isBind).length > MAX_BINDS) return `bubblewrap is given no more than ${MAX_BINDS} descriptors`;
    const words = argv.length + WORDS_OF_A_VARIABLE * env.length + WORDS_OF_A_MOUNT * mounts.length;
    return words + OTHER_WORDS > MAX_WORDS ? `bubblewrap takes no more than ${MAX_WORDS} words` : undefined;
  }

  get #bubblewrap(): Bubblewrap {
    if (this.#found !== undefined) return this.#found;
    throw new ExecError("sandboxUnavailable", "sandbox unavailable: there is no bubblewrap");
  }

  #mounts(plan: AccessPlan): readonly Mount[] {
    return mountPlan(plan, { scratch: "writable", hidden: this.#premises.hidden.now() });
  }

  async #prepare(plan: AccessPlan, program: ConfinedProgram, signal: AbortSignal): Promise<PreparedLaunch> {
    const { mountPoints, tenancies, machine, covers } = this.#premises;
    const { path, version } = this.#bubblewrap;
    const mounts = this.#mounts(plan);
    const failure = lookUpProgram(program, mounts, realTree);
    if (failure !== 0) return standIn(program, failure);
    await using scope = new AsyncDisposableStack();
    const own = (fd: number): number => scope.adopt(fd, close);
    const lease = scope.use(await mountPoints.hold(neededMountPoints(plan), signal));
    const { argv, options, binds } = bubblewrapLaunch(mounts, {
      version,
      network: plan.network,
      ...words(program),
      cwd: program.cwd,
      covers: covers(),
      optionsFd: OPTIONS_FD,
      seccompFd: SECCOMP_FD,
      firstBindFd: FIRST_BIND_FD,
      infoFd: INFO_FD,
      newSession: true,
    });
    const first = scope.use(new FirstProcess());
    const descriptors = [
      own(memoryFile("bubblewrap-options", options)),
      own(memoryFile("filter", networkFilter(machine, plan.network))),
      own(first.report),
      ...openBinds(binds).map(own),
    ];
    scope.move(); // from here on they belong to the launch
    const letGo = tenancies.begin(lease, first);
    return new OwnedLaunch({ path, argv, env: [], descriptors, letGo });
  }
}

function standIn(program: ConfinedProgram, failure: number): PreparedLaunch {
  const { exitCode, message } = notRun(program, failure);
  const argv = [SHELL, "-c", STAND_IN, SHELL, message, String(exitCode)];
  return new OwnedLaunch({ path: SHELL, argv, env: [], descriptors: [] });
}

function words({ file, argv, env }: ConfinedProgram) {
  const [arg0 = file, ...args] = argv;
  const variables = env.map((variable): [string, string] => {
    const at = variable.indexOf("=");
    return [variable.slice(0, at), variable.slice(at + 1)];
  });
  return { command: [file, ...args], arg0, env: variables };
}
