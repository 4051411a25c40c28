import { COMMAND_GRACE_MS } from "./limits.ts";

export type SignalName = "SIGTERM" | "SIGKILL";

/** How a command's process group is reached. */
export interface GroupTarget {
  /** Resolves when the command itself has ended: its process id is free, and once the group is empty its number too. */
  readonly exited: Promise<void>;
  /**
   * Sends a signal to every process of the group.
   *
   * @param name 0 only looks.
   * @returns False if there is none any more. One that has ended and was not yet waited for still counts.
   */
  signal(name: SignalName | 0): boolean;
}

/** Whether what was killed has disappeared is looked at after 1 ms, and at doubling intervals up to this one. */
const LAST_INTERVAL_MS = 16;

/**
 * The life of a command's process group. It ends with the command, or when it is told to: by SIGTERM, and by SIGKILL
 * once the time to leave is over. After the command's own end the group is signalled no more than that one time, in the
 * same moment: its number cannot have been given to others before.
 */
export class CommandGroup {
  readonly #target: GroupTarget;
  readonly #graceMs: number;
  #exited = false;
  #force: ReturnType<typeof setTimeout> | undefined;
  /** Resolves when the command has ended and the rest of its group was killed. Never rejects. */
  readonly gone: Promise<void>;

  constructor(target: GroupTarget, graceMs: number = COMMAND_GRACE_MS) {
    this.#target = target;
    this.#graceMs = graceMs;
    this.gone = this.#watch();
  }

  /** Harmless when it ends, or has ended, already. */
  end(): void {
    if (this.#exited || this.#force !== undefined) return;
    this.#target.signal("SIGTERM");
    this.#force = setTimeout(() => this.#target.signal("SIGKILL"), this.#graceMs);
  }

  async #watch(): Promise<void> {
    await this.#target.exited;
    this.#exited = true;
    clearTimeout(this.#force);
    if (!this.#target.signal("SIGKILL")) return;
    // Not for ever: in a container there may be nobody who waits for orphans.
    for (let ms = 1; ms <= LAST_INTERVAL_MS && this.#target.signal(0); ms *= 2) {
      await new Promise((resolve) => setTimeout(resolve, ms));
    }
  }
}
