import * as libc from "../../linux/libc.ts";
import type { Log } from "../../log.ts";
import type { Poller, Watch } from "../../linux/poller.ts";

/** Called once, with the status that waitpid() gave, in the turn in which it was taken. */
export type ExitListener = (status: number) => void;

/** What is reported when somebody else took the status of a child of ours: death by SIGKILL. */
const LOST_STATUS = 9;

interface Waiting {
  readonly ended: ExitListener;
  /** null: told by SIGCHLD. */
  readonly watch: Watch | null;
}

/**
 * Learns of the end of our children and takes their exit statuses, one known process at a time: a blind waitpid(-1)
 * would take those of others.
 *
 * Where the kernel gives a descriptor of a process it is watched; for the rest (Linux before 5.3, a filter that forbids
 * it) every SIGCHLD is a reason to look.
 */
export class Exits {
  readonly #poller: Poller;
  readonly #log: Log;
  readonly #waiting = new Map<number, Waiting>();
  #signalled = 0;
  /** Who waits for the last exit. */
  #idle: (() => void)[] = [];

  constructor(poller: Poller, log: Log) {
    this.#poller = poller;
    this.#log = log;
  }

  /**
   * @param pidfd Descriptor of the child, which stays the caller's and must stay open until `ended` is called; -1 if
   * there is none.
   */
  await(pid: number, pidfd: number, ended: ExitListener): void {
    const watch = this.#watch(pid, pidfd);
    this.#waiting.set(pid, { ended, watch });
    if (watch !== null) return;
    if (this.#signalled++ === 0) Deno.addSignalListener("SIGCHLD", this.#look);
    // It may have ended before we listened, and signals are not repeated. Not now: `ended` is never called from here.
    queueMicrotask(this.#look);
  }

  /** Whether this process is one that we wait for. */
  has(pid: number): boolean {
    return this.#waiting.has(pid);
  }

  /** Takes the status of a child if it has ended. */
  take(pid: number): void {
    const waiting = this.#waiting.get(pid);
    if (waiting === undefined) return;
    const taken = libc.reap(pid);
    if (taken === null) return;
    this.#waiting.delete(pid);
    if (waiting.watch !== null) waiting.watch.stop();
    else if (--this.#signalled === 0) Deno.removeSignalListener("SIGCHLD", this.#look);
    if (typeof taken === "number") {
      this.#log.error("the exit status of a child was taken by somebody else", { pid, errno: -taken });
    }
    if (this.#waiting.size === 0) {
      for (const resolve of this.#idle) resolve();
      this.#idle = [];
    }
    waiting.ended(typeof taken === "number" ? LOST_STATUS : taken.status);
  }

  /** Resolves when no child is waited for any more. */
  idle(): Promise<void> {
    if (this.#waiting.size === 0) return Promise.resolve();
    return new Promise((resolve) => this.#idle.push(resolve));
  }

  #watch(pid: number, pidfd: number): Watch | null {
    if (pidfd < 0) return null;
    const watch = this.#poller.watch(pidfd, { readable: () => this.take(pid) });
    try {
      watch.reading = true;
      return watch;
    } catch (error) {
      this.#log.warn("cannot watch a child's descriptor, waiting for SIGCHLD instead", { reason: String(error) });
      return null;
    }
  }

  /** Named property, because the same function must be removed. */
  readonly #look = (): void => {
    for (const [pid, { watch }] of this.#waiting) {
      if (watch === null) this.take(pid);
    }
  };
}
