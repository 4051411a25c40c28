import type { DescriptorSource } from "../linux/posix_spawn.ts";
import { type LaunchParts, OwnedLaunch } from "./prepared_launch.ts";
import type { LauncherKind, ReadyLauncher, ReadyLaunchers } from "./ready_launchers.ts";
import type { PreparedLaunch } from "./sandbox.ts";

export interface LauncherLaunchParts extends Pick<LaunchParts, "letGo"> {
  readonly launchers: ReadyLaunchers;
  readonly kind: LauncherKind;
  /** One that runs already; undefined: it is still to be started. */
  readonly ready: ReadyLauncher | undefined;
  /** A descriptor of the plan, then of what else a launcher of the kind is started with. */
  readonly descriptors: readonly [plan: number, ...others: number[]];
}

/** What is started by a launcher; afterwards another one is made ready. */
export class LauncherLaunch extends OwnedLaunch {
  /** Undefined: nothing waits. */
  readonly handOver: NonNullable<PreparedLaunch["handOver"]> | undefined;
  readonly #parts: LauncherLaunchParts;

  constructor(parts: LauncherLaunchParts) {
    const { kind: { argv, env }, ready, descriptors } = parts;
    super({ ...parts, path: argv[0]!, argv, env });
    this.#parts = parts;
    this.handOver = ready &&
      ((streams: readonly DescriptorSource[]) => ready.handOver(descriptors[0], streams));
  }

  override started(pid: number): void {
    super.started(pid);
    this.#parts.launchers.used(this.#parts.kind);
  }

  /** One that waits is ended if it was not used. */
  override [Symbol.dispose](): void {
    super[Symbol.dispose]();
    this.#parts.ready?.[Symbol.dispose]();
  }
}
