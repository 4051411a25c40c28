import { systemClock } from "../clock.ts";
import { ExecError } from "../errors.ts";
import { mayRead } from "./access.ts";
import { TestedBackEnd } from "./back_end.ts";
import { type BackEndReport, PROMISES } from "./back_ends.ts";
import { fromText, isAtOrBelow } from "./byte_path.ts";
import { expandInSlices } from "./expand_in_slices.ts";
import type { FileTree } from "./file_tree.ts";
import { THIS_HOST } from "./launcher_command.ts";
import { existing, keepFromWriting, type OwnFile, ownFiles } from "./own_files.ts";
import type { AccessPlan, BytePath, SandboxPolicy } from "./policy.ts";
import { MACOS_RUNTIME } from "./runtime_trees.ts";
import type {
  ConfinedProgram,
  Enforcement,
  FileConfinement,
  PreparedLaunch,
  Sandbox,
  SandboxOptions,
} from "./sandbox.ts";
import { policyObstacle, SANDBOX_EXEC, seatbeltLaunch } from "./seatbelt_launch.ts";
import { type SeatbeltPolicy, seatbeltPolicy } from "./seatbelt_policy.ts";
import { seatbeltSelfTest } from "./seatbelt_self_test.ts";
import { type MacHost, thisMac } from "./mac_host.ts";

/**
 * The sandbox of a server on macOS; nothing is tried before the first policy restricts something. It has never been run
 * on a Mac: what it says to sandbox-exec is tested elsewhere, word for word.
 *
 * @param host Replaced in tests.
 */
export function createSeatbeltSandbox(options: SandboxOptions, host: MacHost = thisMac): Sandbox {
  return new SeatbeltSandbox(options, host);
}

class SeatbeltSandbox implements Sandbox {
  readonly isExternal: boolean;
  readonly #options: SandboxOptions;
  readonly #host: MacHost;
  readonly #own: OwnFile[];
  readonly #backEnd: TestedBackEnd<null>;
  #networkCache: Promise<BytePath | null> | undefined;

  constructor(options: SandboxOptions, host: MacHost) {
    this.isExternal = options.choice === "external";
    this.#options = options;
    this.#host = host;
    this.#own = ownFiles(THIS_HOST, import.meta.url, host.tree);
    this.#backEnd = new TestedBackEnd({
      name: "seatbelt",
      launch: null,
      test: () => this.#test(),
      log: options.log,
      clock: options.clock ?? systemClock,
    });
  }

  plan(policy: SandboxPolicy, signal: AbortSignal): AccessPlan | Promise<AccessPlan> {
    return expandInSlices(policy, this.#host.tree, signal, MACOS_RUNTIME);
  }

  async enforcement(plan: AccessPlan): Promise<Enforcement | null> {
    const { choice } = this.#options;
    if (choice === "external") return null;
    if (plan.refusal !== undefined) throw new ExecError("sandboxUnavailable", plan.refusal);
    if (plan.fullWrite && plan.network === "enabled") return null;
    if (choice !== "auto") throw unavailable(`${choice}: there is none on macOS`);
    const reason = await this.#backEnd.available();
    if (reason !== undefined) throw unavailable(`seatbelt: ${reason.reason}`);
    return await this.#enforcement(plan);
  }

  async report(): Promise<readonly BackEndReport[]> {
    const unavailable = await this.#backEnd.available();
    const isChosen = this.#options.choice === "auto";
    return [{ name: "seatbelt", isChosen, reason: unavailable?.reason, promise: PROMISES.seatbelt }];
  }

  /** Nothing is left behind by any policy. */
  [Symbol.dispose](): void {}

  async #enforcement(asked: AccessPlan): Promise<Enforcement> {
    const plan = keepFromWriting(asked, this.#own);
    const hidden = hiddenNow(this.#host.tree, this.#options.secretPaths);
    const networkCache = plan.network === "enabled" ? await this.#cache() : null;
    const policy = seatbeltPolicy(plan, { hidden, networkCache });
    const obstacle = policyObstacle(policy);
    if (obstacle !== undefined) throw unavailable(`seatbelt: ${obstacle}`);
    return new SeatbeltEnforcement(plan, policy, hidden);
  }

  /** Without one, the system's services find the same again and again. */
  #cache(): Promise<BytePath | null> {
    return this.#networkCache ??= this.#host.networkCache().catch((error) => {
      this.#options.log.warn("the cache directory of this user is not known", { reason: String(error) });
      return null;
    });
  }

  async #test(): Promise<string | undefined> {
    if (!this.#host.hasSandboxExec()) return `there is no ${SANDBOX_EXEC}`;
    return await seatbeltSelfTest({
      tree: this.#host.tree,
      run: async ({ plan, argv, env, cwd }, signal) => {
        const words = argv.map(fromText);
        const variables = Object.entries(env).map(([name, value]) => fromText(`${name}=${value}`));
        const enforcement = await this.#enforcement(plan);
        const program = { file: words[0]!, argv: words, env: variables, cwd };
        using launch = await enforcement.prepare(program, signal);
        return await this.#host.run(launch, signal);
      },
    });
  }
}

class SeatbeltEnforcement implements Enforcement {
  readonly backEnd = "seatbelt";

  constructor(
    readonly plan: AccessPlan,
    readonly policy: SeatbeltPolicy,
    readonly hidden: readonly OwnFile[],
  ) {}

  // deno-lint-ignore require-await
  async prepare(program: ConfinedProgram, signal: AbortSignal): Promise<PreparedLaunch> {
    signal.throwIfAborted();
    const isThere = mayRead(this.plan, program.cwd) && !this.hidden.some(({ path }) => isAtOrBelow(program.cwd, path));
    return seatbeltLaunch(this.policy, program, isThere ? program.cwd : "/");
  }

  get files(): FileConfinement {
    throw unavailable("requests for files are not confined on macOS, and not done unconfined");
  }
}

/** What nobody inside may see, as it is there now. */
function hiddenNow(tree: FileTree, secretPaths: readonly string[]): OwnFile[] {
  const files = secretPaths.flatMap((path) => existing(tree, fromText(path)));
  return [...new Map(files.map((file) => [file.path, file])).values()];
}

function unavailable(reason: string): ExecError {
  return new ExecError("sandboxUnavailable", `sandbox unavailable: ${reason}`);
}
