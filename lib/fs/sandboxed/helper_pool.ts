import type { Clock, Timer } from "../../clock.ts";
import { ExecError } from "../../errors.ts";
import type { Log } from "../../log.ts";
import { OwnMounts } from "../../linux/mount_table.ts";
import { Poller } from "../../linux/poller.ts";
import type { Confinement } from "../../sandbox/launcher/launch_plan.ts";
import type { LauncherCommand } from "../../sandbox/launcher_command.ts";
import type { FileConfinement } from "../../sandbox/sandbox.ts";
import { Helper } from "./helper.ts";
import { helperKey } from "./helper_key.ts";

/** Helpers at once, of all kinds: each takes 50 MB at first, and up to 140 MB after some thousand requests. */
export const MAX_HELPERS = 4;
/** How long one waits for the next request, in milliseconds, … */
export const IDLE_MS = 30_000;
/** … and one that is of use for a single plan only. */
export const IDLE_WITH_ONE_PLAN_MS = 5_000;

interface Kept {
  readonly helper: Helper;
  readonly key: string;
  /** As they were before it was started. */
  readonly mounts: number;
  idle: Timer | undefined;
}

/** The helpers of a server, each for one request at a time, and for a while afterwards for the next. */
export class HelperPool implements Disposable {
  readonly #command: LauncherCommand;
  readonly #clock: Clock;
  readonly #poller: Poller;
  readonly #mounts = new OwnMounts();
  readonly #busy = new Set<Helper>();
  /** From the one that has waited longest on. */
  #idle: Kept[] = [];
  readonly #leaving = new Set<Promise<void>>();
  #isDisposed = false;

  constructor(command: LauncherCommand, clock: Clock, log: Log) {
    this.#command = command;
    this.#clock = clock;
    this.#poller = new Poller(log);
  }

  /** Resolves when no helper is leaving any more. */
  async left(): Promise<void> {
    while (this.#leaving.size > 0) await Promise.all(this.#leaving);
    await this.#poller.idle();
  }

  /**
   * Works with a helper that nobody else works with meanwhile; no more than {@linkcode MAX_HELPERS} may do so.
   *
   * @throws {ExecError} If none can be started.
   */
  async during<T>(
    confinement: FileConfinement,
    act: (helper: Helper, view: Confinement) => Promise<T>,
  ): Promise<T> {
    if (this.#isDisposed) throw new ExecError("internal", "the server is ending");
    const view = confinement.confinement;
    const argv = confinement.arguments(this.#command);
    const { kind } = view;
    const key = helperKey(argv, view);
    const mounts = this.#mounts.changes;
    const helper = this.#takeIdle(key, mounts) ?? this.#start(argv);
    this.#busy.add(helper);
    try {
      return await act(helper, view);
    } finally {
      this.#busy.delete(helper);
      this.#keep({ helper, key, mounts, idle: undefined }, kind === "landlock" ? IDLE_WITH_ONE_PLAN_MS : IDLE_MS);
    }
  }

  [Symbol.dispose](): void {
    if (this.#isDisposed) return;
    this.#isDisposed = true;
    for (const helper of this.#busy) helper.kill();
    for (const kept of this.#idle.splice(0)) this.#dismiss(kept, "kill");
    this.#poller[Symbol.dispose]();
    this.#mounts[Symbol.dispose]();
  }

  #takeIdle(key: string, mounts: number): Helper | undefined {
    for (const kept of this.#idle.filter((kept) => kept.key === key)) {
      this.#idle = this.#idle.filter((other) => other !== kept);
      kept.idle?.cancel();
      if (kept.mounts === mounts && kept.helper.isUsable) return kept.helper;
      this.#dismiss(kept, "kill");
    }
    return undefined;
  }

  #start(argv: readonly string[]): Helper {
    while (this.#busy.size + this.#idle.length >= MAX_HELPERS && this.#idle.length > 0) {
      this.#dismiss(this.#idle.shift()!, "kill");
    }
    const helper = new Helper({ argv, env: this.#command.env, poller: this.#poller, clock: this.#clock });
    const leaving = helper.gone.finally(() => this.#leaving.delete(leaving));
    this.#leaving.add(leaving);
    return helper;
  }

  #keep(kept: Kept, idleMs: number): void {
    if (this.#isDisposed || !kept.helper.isUsable) return this.#dismiss(kept, "kill");
    kept.idle = this.#clock.after(idleMs, () => {
      this.#idle = this.#idle.filter((other) => other !== kept);
      this.#dismiss(kept, "end");
    });
    this.#idle.push(kept);
  }

  #dismiss({ helper, idle }: Kept, how: "end" | "kill"): void {
    idle?.cancel();
    helper[how]();
  }
}
