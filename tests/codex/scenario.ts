import type { Outcome } from "./codex_run.ts";
import type { Environment } from "./configuration.ts";
import type { Script } from "./scripted_model.ts";
import type { Stage } from "./stage.ts";

/** What the model does in one run, and what must come of it. */
export interface Scenario {
  readonly name: string;
  /** The line of `config.toml` that says how commands are confined, empty for the CLI's default; absent: they are not. */
  readonly sandbox?: string;
  /** Not in /tmp, which sandboxes let be written. */
  readonly isOutsideTmp?: boolean;
  /**
   * Makes what must be there before the CLI starts; what has to end goes to `resources`.
   *
   * @returns Further tables of `config.toml`.
   */
  prepare?(stage: Stage, resources: AsyncDisposableStack): Promise<string | void>;
  /**
   * The environments, where it is not just one.
   *
   * @param url A server that listens.
   * @param own The entry of one that the CLI starts itself.
   */
  environments?(url: string, own: Environment & { words: readonly string[] }): [Environment, ...Environment[]];
  script(stage: Stage): Script;
  /** @throws {Error} If it is not what must have come of it. */
  check(outcome: Outcome): void;
}
