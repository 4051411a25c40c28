import { close, landlockVersion } from "../../../lib/linux/sandbox_calls.ts";
import { fromBytes, fromText } from "../../../lib/sandbox/byte_path.ts";
import type { LaunchPlan, ProgramPlan } from "../../../lib/sandbox/launcher/launch_plan.ts";
import { writePlan } from "../../../lib/sandbox/launcher/plan_file.ts";
import { launcherCommand } from "../../../lib/sandbox/launcher_command.ts";
import { MIN_LANDLOCK_VERSION } from "../../../lib/sandbox/landlock_version.ts";
import type { NetworkAccess } from "../../../lib/sandbox/policy.ts";
import { networkFilter } from "../../../lib/sandbox/seccomp.ts";
import { UNSHARE_PLACES, unshareArguments } from "../../../lib/sandbox/unshare.ts";
import { Bench } from "../../support/linux.ts";

/** Who runs what is started: whoever runs the tests, or, if that is root, somebody without any rights. */
export type User = "self" | "nobody";

const NOBODY = 65534;
/** Whatever the caller's PATH says. */
const UNSHARE = UNSHARE_PLACES.find(exists);

export interface Outcome {
  readonly code: number;
  readonly stdout: string;
  readonly stderr: string;
}

/** Root is tried as root and as nobody; everybody else as himself. */
export const users: readonly User[] = Deno.uid() === 0 ? ["self", "nobody"] : ["self"];

/** A directory of one test. */
export class Workplace implements Disposable {
  readonly root = Deno.realPathSync(Deno.makeTempDirSync({ prefix: "sandbox-" }));
  /** Where the launcher's modules are kept between its starts, if the user may not see our own place for it. */
  readonly cache: string;

  readonly #plans: number[] = [];

  /** @param user Owns everything. */
  constructor(readonly user: User) {
    Deno.chmodSync(this.root, 0o755);
    this.#own(this.root);
    this.cache = this.directory("cache");
  }

  /**
   * Runs the launcher as the server would: in `/`, with the plan as its descriptor 3 and no environment but its own.
   *
   * @param network Undefined: without namespaces.
   */
  async launch(plan: LaunchPlan, network: NetworkAccess | undefined): Promise<Outcome> {
    return await outcome(this.start(plan, network));
  }

  /** The same while it runs, as the leader of a group of its own. */
  start(plan: LaunchPlan, network: NetworkAccess | undefined): Deno.ChildProcess {
    const fd = writePlan(plan);
    this.#plans.push(fd); // the child opens it itself, some time from now
    return command(`/proc/${Deno.pid}/fd/${fd}`, this, network).spawn();
  }

  /** Everything that happens while it runs on a terminal, see `ChildRecord`. */
  async onTerminal(plan: LaunchPlan, network: NetworkAccess | undefined): Promise<string> {
    const fd = writePlan(plan);
    try {
      const { args, env } = commandLine(`/proc/${Deno.pid}/fd/${fd}`, this, network);
      await using bench = new Bench();
      const started = { tty: true, cwd: new TextEncoder().encode("/"), env: new Map(Object.entries(env)) };
      const events = await bench.launch(["/bin/sh", ...args], started).record.end();
      return events.join("\n").replaceAll("\r", "");
    } finally {
      close(fd);
    }
  }

  directory(path: string): string {
    const full = `${this.root}/${path}`;
    Deno.mkdirSync(full);
    this.#own(full);
    return full;
  }

  file(path: string, text: string): string {
    const full = `${this.root}/${path}`;
    Deno.writeTextFileSync(full, text);
    this.#own(full);
    return full;
  }

  #own(path: string): void {
    if (this.user === "nobody") Deno.chownSync(path, NOBODY, NOBODY);
  }

  [Symbol.dispose](): void {
    for (const fd of this.#plans) close(fd);
    Deno.removeSync(this.root, { recursive: true });
  }
}

/** A shell script as a program, with nothing but a PATH. */
export function script(text: string, cwd: string, ...args: string[]): ProgramPlan {
  return {
    file: "/bin/sh",
    argv: ["sh", "-c", text, "sh", ...args].map(fromText),
    env: ["PATH=/usr/local/bin:/usr/bin:/bin"],
    cwd: fromText(cwd),
  };
}

export function networkFilterText(network: NetworkAccess): string {
  return fromBytes(networkFilter(Deno.build.arch === "aarch64" ? "aarch64" : "x86_64", network));
}

/** @param planPath What becomes the launcher's descriptor 3. */
export async function runWith(
  planPath: string,
  place: Workplace,
  network: NetworkAccess | undefined,
): Promise<Outcome> {
  return await outcome(command(planPath, place, network).spawn());
}

async function outcome(child: Deno.ChildProcess): Promise<Outcome> {
  const { code, stdout, stderr } = await child.output();
  const decoder = new TextDecoder();
  return { code, stdout: decoder.decode(stdout), stderr: decoder.decode(stderr) };
}

function command(planPath: string, place: Workplace, network: NetworkAccess | undefined): Deno.Command {
  return new Deno.Command("/bin/sh", {
    ...commandLine(planPath, place, network),
    clearEnv: true,
    cwd: "/",
    detached: true,
    stdin: "null",
    stdout: "piped",
    stderr: "piped",
  });
}

/** For a shell, which opens what the launcher inherits. */
function commandLine(
  planPath: string,
  { user, cache }: Workplace,
  network: NetworkAccess | undefined,
): { args: string[]; env: Record<string, string> } {
  const own = launcherCommand();
  // Our executable may lie where nobody else may look; by a descriptor it can be run all the same.
  const program = user === "nobody" ? "/proc/self/fd/5" : own.argv[0]!;
  const env = user === "nobody" ? { ...own.env, DENO_DIR: cache } : own.env;
  const launcher = { env, argv: [program, ...own.argv.slice(1)] };
  const chain = network === undefined ? launcher.argv : unshareArguments(UNSHARE ?? "unshare", launcher, network);
  const becoming = user === "nobody" ? ["setpriv", `--reuid=${NOBODY}`, `--regid=${NOBODY}`, "--clear-groups"] : [];
  return {
    args: ["-c", 'exec 3<"$1" 5<"$2"; shift 2; exec "$@"', "sh", planPath, own.argv[0]!, ...becoming, ...chain],
    env: { PATH: "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin", ...env },
  };
}

/** Whether the user cannot make the namespaces that a view needs. */
export function namespacesMissing(user: User): boolean {
  if (UNSHARE === undefined || !canBecome(user)) return true;
  const unshare = [
    UNSHARE,
    "--user",
    "--map-current-user",
    "--keep-caps",
    "--mount",
    "--pid",
    "--net",
    "--fork",
    "true",
  ];
  return !succeeds(user, unshare);
}

/** Whether the kernel's Landlock is not there or too old. */
export function landlockMissing(user: User): boolean {
  return landlockVersion() < MIN_LANDLOCK_VERSION || !canBecome(user);
}

/** Whether the user can run our executable and read our files at all. */
export function canBecome(user: User): boolean {
  return user === "self" || succeeds(user, ["test", "-r", new URL(import.meta.url).pathname]);
}

function succeeds(user: User, argv: readonly string[]): boolean {
  const becoming = user === "nobody" ? ["setpriv", `--reuid=${NOBODY}`, `--regid=${NOBODY}`, "--clear-groups"] : [];
  try {
    const args = ["-c", 'exec "$@"', "sh", ...becoming, ...argv];
    return new Deno.Command("/bin/sh", { args, stdout: "null", stderr: "null" }).outputSync().success;
  } catch (error) {
    if (error instanceof Deno.errors.NotFound) return false;
    throw error;
  }
}

function exists(path: string): boolean {
  try {
    Deno.statSync(path);
    return true;
  } catch (error) {
    if (error instanceof Deno.errors.NotFound) return false;
    throw error;
  }
}
