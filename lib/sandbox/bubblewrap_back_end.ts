import { bubblewrapLaunch } from "./bubblewrap.ts";
import type { Bubblewrap } from "./find_bubblewrap.ts";
import { close } from "../linux/libc.ts";
import { FirstProcess } from "./first_process.ts";
import type { LauncherCommand } from "./launcher_command.ts";
import type { Mechanism, Premises } from "./mechanism.ts";
import { memoryFile } from "./memory_file.ts";
import { mountPlan } from "./mount_plan.ts";
import { neededMountPoints } from "./needed_mount_points.ts";
import { openBinds } from "./open_binds.ts";
import { toText } from "./byte_path.ts";
import type { AccessPlan } from "./policy.ts";
import { OwnedLaunch } from "./prepared_launch.ts";
import type { ConfinedProgram, Enforcement, FileConfinement, PreparedLaunch } from "./sandbox.ts";
import { networkFilter } from "./seccomp.ts";

/** The descriptors of bubblewrap, in this order. */
const OPTIONS_FD = 3, SECCOMP_FD = 4, INFO_FD = 5, FIRST_BIND_FD = 6;

export class BubblewrapMechanism implements Mechanism {
  readonly #premises: Premises;
  readonly #bubblewrap: () => Bubblewrap;

  /** @param bubblewrap The one that was found to work. */
  constructor(premises: Premises, bubblewrap: () => Bubblewrap) {
    this.#premises = premises;
    this.#bubblewrap = bubblewrap;
  }

  enforcement(plan: AccessPlan): Enforcement {
    const { path } = this.#bubblewrap();
    return {
      plan,
      backEnd: "bubblewrap",
      prepare: (program, signal) => this.#prepare(plan, program, signal),
      files: viewOfFiles(this.#premises, plan, (command) => [toText(path), ...HELPER_OPTIONS, "--", ...command.argv]),
    };
  }

  async #prepare(plan: AccessPlan, program: ConfinedProgram, signal: AbortSignal): Promise<PreparedLaunch> {
    const { mountPoints, tenancies, machine } = this.#premises;
    const { path, version } = this.#bubblewrap();
    const mounts = mountPlan(plan, { scratch: "writable", hidden: this.#premises.hidden() });
    await using scope = new AsyncDisposableStack();
    const own = (fd: number): number => scope.adopt(fd, close);
    const lease = scope.use(await mountPoints.hold(neededMountPoints(plan), signal));
    const { argv, options, binds } = bubblewrapLaunch(mounts, {
      version,
      network: plan.network,
      ...words(program),
      cwd: program.cwd,
      covers: this.#premises.covers(),
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
    scope.move(); // it is the launch's now
    const letGo = tenancies.begin(lease, first);
    return new OwnedLaunch({ path, argv, env: [], descriptors, letGo });
  }
}

function words({ file, argv, env }: ConfinedProgram) {
  const [arg0 = file, ...args] = argv;
  const variables = env.map((variable): [string, string] => {
    const at = variable.indexOf("=");
    return [variable.slice(0, at), variable.slice(at + 1)];
  });
  return { command: [file, ...args], arg0, env: variables };
}

/** A helper makes its own mounts, over all that there is at first. */
const HELPER_OPTIONS = [
  ...["--unshare-user", "--unshare-pid", "--unshare-ipc", "--unshare-net", "--die-with-parent"],
  ...["--cap-add", "ALL", "--dev-bind", "/", "/", "--proc", "/proc"],
];

/** @param args The command line that gives a helper namespaces of its own. */
export function viewOfFiles(
  { mountPoints, hidden }: Premises,
  plan: AccessPlan,
  args: (command: LauncherCommand) => readonly string[],
): FileConfinement {
  return {
    arguments: args,
    get confinement() {
      return { kind: "mounts" as const, mounts: mountPlan(plan, { scratch: "readOnly", hidden: hidden() }) };
    },
    hold: (signal) => mountPoints.hold(neededMountPoints(plan), signal),
  };
}
