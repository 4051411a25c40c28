import * as libc from "../../linux/libc.ts";
import { ownChildren } from "../../linux/own_children.ts";
import type { Clock, Timer } from "../../clock.ts";
import type { Exits } from "./exits.ts";

/** How long a dead child of somebody else in our process may hide others that died after it, in milliseconds. */
const RETRY_MS = 50;
/** Statuses taken in one turn of the event loop: one or two system calls (about 1 µs) each. */
const TURN_COUNT = 256;

export interface ReaperOptions {
  readonly exits: Exits;
  readonly clock: Clock;
  /** Whether a process was started by another part of this program, which waits for it itself. */
  isOwnChild?(pid: number): boolean;
}

/**
 * Does the other duty of process 1: whoever loses his parent becomes a child of process 1, and stays a zombie for ever
 * if that does not take his exit status.
 *
 * The status of a child of our own is never taken here but left to whoever waits for it, so the system is asked who has
 * died before anything is taken.
 */
export class Reaper implements Disposable {
  readonly #options: ReaperOptions;
  #retry: Timer | null = null;

  constructor(options: ReaperOptions) {
    this.#options = options;
    Deno.addSignalListener("SIGCHLD", this.#look);
    this.#look();
  }

  [Symbol.dispose](): void {
    Deno.removeSignalListener("SIGCHLD", this.#look);
    this.#retry?.cancel();
  }

  /** Named property, because the same function must be removed. */
  readonly #look = (): void => {
    this.#retry?.cancel();
    this.#retry = null;
    const { exits, isOwnChild } = this.#options;
    for (let count = 0; count < TURN_COUNT; count++) {
      const pid = libc.peekEndedChild();
      if (pid <= 0) return; // nobody, or (an error) no child at all
      if (exits.has(pid)) exits.take(pid);
      else if (ownChildren.has(pid) || isOwnChild?.(pid) === true) break; // the system names it until its status is taken: come back
      else libc.reap(pid);
    }
    this.#retry = this.#options.clock.after(RETRY_MS, this.#look);
  };
}
