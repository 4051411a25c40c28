import { close } from "../linux/libc.ts";
import type { PreparedLaunch } from "./sandbox.ts";

export interface LaunchParts extends Pick<PreparedLaunch, "path" | "argv" | "env" | "descriptors"> {
  /** Called once, when what was started has ended, or nothing was. */
  readonly letGo?: (wasStarted: boolean) => Promise<void>;
}

/** Owns its descriptors. */
export class OwnedLaunch implements PreparedLaunch {
  readonly path: string;
  readonly argv: readonly string[];
  readonly env: readonly string[];
  #descriptors: readonly number[];
  #letGo: ((wasStarted: boolean) => Promise<void>) | undefined;
  #wasStarted = false;

  constructor({ path, argv, env, descriptors, letGo }: LaunchParts) {
    this.path = path;
    this.argv = argv;
    this.env = env;
    this.#descriptors = descriptors;
    this.#letGo = letGo;
  }

  get descriptors(): readonly number[] {
    return this.#descriptors;
  }

  started(_pid: number): void {
    this.#wasStarted = true;
  }

  ended(): Promise<void> | undefined {
    const letGo = this.#letGo;
    this.#letGo = undefined;
    return letGo?.(this.#wasStarted);
  }

  [Symbol.dispose](): void {
    for (const fd of this.#descriptors) close(fd);
    this.#descriptors = [];
  }
}
