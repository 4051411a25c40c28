import { close, killProcess, openProcessDescriptor, reap } from "./libc.ts";
import { ownChildren } from "./own_children.ts";
import type { Poller, Watch } from "./poller.ts";

/** A child of ours that nobody else waits for, by its descriptor: its number is not used once it could be another's. */
export class ChildProcess {
  readonly #pid: number;
  readonly #watch: Watch;
  readonly #ended = Promise.withResolvers<number | undefined>();

  /**
   * @param pid Has just been started.
   * @throws {Error} If there is no descriptor left for it. Then it goes on running, and the caller has to end it.
   */
  constructor(pid: number, poller: Poller) {
    const fd = openProcessDescriptor(pid);
    if (fd < 0) throw new Error(`cannot watch a child process: errno ${-fd}`);
    this.#pid = pid;
    ownChildren.add(pid);
    this.#watch = poller.watch(fd, { readable: () => this.#reap() });
    try {
      this.#watch.reading = true;
    } catch (error) {
      ownChildren.delete(pid);
      close(fd);
      throw error;
    }
  }

  /** Its wait status once it has ended; undefined if somebody else has taken that. */
  get ended(): Promise<number | undefined> {
    return this.#ended.promise;
  }

  /** Harmless if it has ended. */
  kill(): void {
    if (!this.#watch.stopped) killProcess(this.#watch.fd);
  }

  #reap(): void {
    const taken = reap(this.#pid);
    if (taken === null) return;
    ownChildren.delete(this.#pid);
    this.#watch.close();
    this.#ended.resolve(typeof taken === "number" ? undefined : taken.status);
  }
}
