import type { EnvironmentInfo } from "../protocol/environment.ts";
import { abortable } from "../abortable.ts";

/** What the server told of itself: once, for the life of the client. */
export class InfoCache {
  #known: EnvironmentInfo | undefined;
  #asking: Promise<EnvironmentInfo> | undefined;

  /** The first one stays. */
  fill(info: EnvironmentInfo): void {
    this.#known ??= info;
  }

  /**
   * @param ask Called if nothing is known; callers at the same time share one call, and a failed one is forgotten.
   * @param signal Gives up waiting; the call goes on for the others.
   */
  async get(ask: () => Promise<EnvironmentInfo>, signal: AbortSignal | undefined): Promise<EnvironmentInfo> {
    if (this.#known !== undefined) return this.#known;
    this.#asking ??= this.#ask(ask);
    return await abortable(this.#asking, signal);
  }

  async #ask(ask: () => Promise<EnvironmentInfo>): Promise<EnvironmentInfo> {
    try {
      return this.#known = await ask();
    } finally {
      this.#asking = undefined;
    }
  }
}
