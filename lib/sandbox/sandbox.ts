/**
 * What a server enforces sandboxes with, whichever back end it takes. Processes and files know only this; it is made when
 * the first sandbox restricts something.
 */

import type { Clock } from "../clock.ts";
import type { DescriptorSource } from "../linux/posix_spawn.ts";
import type { Log } from "../log.ts";
import type { BackEnd } from "./back_end.ts";
import type { BackEndChoice } from "./back_end_choice.ts";
import type { BackEndReport } from "./back_ends.ts";
import type { Confinement } from "./launcher/launch_plan.ts";
import type { LauncherCommand } from "./launcher_command.ts";
import type { MountPointLease } from "./mount_points.ts";
import type { AccessPlan, BytePath, SandboxPolicy } from "./policy.ts";

/** How sandboxes are enforced on this machine. */
export interface SandboxChoice {
  readonly choice: BackEndChoice;
  /** Files that nothing in a sandbox may read, whatever its policy says: those of our tokens and secrets. */
  readonly secretPaths: readonly string[];
}

export interface SandboxOptions extends SandboxChoice {
  readonly log: Log;
  readonly clock?: Clock;
}

export interface Sandbox extends Disposable {
  /** The operator says that the machine around us is the sandbox: nothing is enforced here. */
  readonly isExternal: boolean;
  /** What a policy comes to on this machine, here and now. A policy that cannot be held gives a plan with a refusal. */
  plan(policy: SandboxPolicy, signal: AbortSignal): AccessPlan | Promise<AccessPlan>;
  /**
   * What holds a plan for programs and for files.
   *
   * @returns null: nothing is to be enforced.
   * @throws {ExecError} `sandboxUnavailable`, with what is missing: no sandbox can hold the plan, or none that works here.
   */
  enforcement(plan: AccessPlan): Promise<Enforcement | null>;
  /** Tries every back end that there is, for people who want to know. */
  report(): Promise<readonly BackEndReport[]>;
}

/** A plan, and the back end that holds it. */
export interface Enforcement {
  readonly plan: AccessPlan;
  readonly backEnd: BackEnd<unknown>["name"];
  /**
   * Makes everything ready to start one program.
   *
   * @throws {ExecError} `sandboxUnavailable` at the first step that fails; nothing is left behind then.
   */
  prepare(program: ConfinedProgram, signal: AbortSignal): Promise<PreparedLaunch>;
  /** How files are worked on under the plan; see `fs/sandboxed`. */
  readonly files: FileConfinement;
}

/** All strings are bytes, one code unit each. */
export interface ConfinedProgram {
  /** A path, or a name that is looked for on the PATH of `env`, in the sandbox. */
  readonly file: string;
  /** At least one word, the name that the program is told it has. */
  readonly argv: readonly string[];
  /** `NAME=value`, exactly these, in this order. */
  readonly env: readonly string[];
  /** A real path of a directory that exists on the machine; the program begins in `/` if the sandbox does not have it. */
  readonly cwd: BytePath;
  /** Whether its standard descriptors are a terminal that is to control it. */
  readonly onTerminal?: boolean;
}

/**
 * What is to be started in the place of a program, in `/`, with our standard descriptors of the program as 0, 1 and 2.
 * Leaving its scope closes the descriptors, which is due directly after the start, whether it failed or not.
 */
export interface PreparedLaunch extends Disposable {
  /** Absolute path of the file to start; bytes, as everything here. */
  readonly path: string;
  readonly argv: readonly string[];
  readonly env: readonly string[];
  /** Where to start it instead of `/`, for what cannot go where the program is to begin by itself. */
  readonly directory?: BytePath;
  /** Ours; they become the descriptors 3, 4 and so on. */
  readonly descriptors: readonly number[];
  /**
   * Where what is to be started runs already and waits: what is called in the place of the start, and before the scope is
   * left.
   *
   * @param streams The standard descriptors of the program.
   * @returns Its process id, or a negated error number.
   */
  readonly handOver?: ((streams: readonly DescriptorSource[]) => number) | undefined;
  /** The start has succeeded, as this process. To be called in the same step. */
  started(pid: number): void;
  /**
   * The process that was started has ended and was waited for, or none was started. What the sandbox needed is let go of
   * once all that it held has ended as well.
   *
   * @returns Resolves when that is done and nothing of it is to be seen any more; undefined: there was nothing.
   */
  ended(): Promise<void> | undefined;
}

/** How a helper of the server's is confined that works on files in a program's place. */
export interface FileConfinement {
  /** The whole command line of the helper, to be started in `/` with the environment of the command. */
  arguments(command: LauncherCommand): readonly string[];
  /** What the helper has to do to its own thread before it works under the plan. */
  readonly confinement: Confinement;
  /** Makes the mount points that the confinement needs, and keeps them until the lease ends. */
  hold(signal: AbortSignal): Promise<MountPointLease>;
}
