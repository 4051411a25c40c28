import { systemClock } from "../../clock.ts";
import { Permits } from "../../permits.ts";
import type { Confinement } from "../../sandbox/launcher/launch_plan.ts";
import type { LauncherCommand } from "../../sandbox/launcher_command.ts";
import type { Caller, FileOperations } from "../operations.ts";
import type { Confined, ConfinedFilesOptions, Enforce } from "./confined.ts";
import { confinedOperations, type Do } from "./confined_operations.ts";
import type { Helper } from "./helper.ts";
import { helperCommand } from "./helper_command.ts";
import { HelperPool, MAX_HELPERS } from "./helper_pool.ts";
import type { Deed, DeedName, Results } from "./messages.ts";

/** Confines files on Linux, with helpers that stay for a while. */
export class ConfinedFiles implements Confined {
  readonly #permits = new Permits(MAX_HELPERS);
  readonly #pool: HelperPool;

  /** @param command Replaced in tests. */
  constructor({ log, clock = systemClock }: ConfinedFilesOptions, command: LauncherCommand = helperCommand()) {
    this.#pool = new HelperPool(command, clock, log);
  }

  operations(enforce: Enforce): FileOperations {
    return confinedOperations(typed(async (deed, signal) => {
      return await this.#permits.during(async () => {
        const confinement = await enforce(signal);
        await using _held = await confinement.hold(signal);
        return await this.#pool.during(confinement, (helper, enter) => {
          return helper.request({ enter, deed, leave: true }, signal);
        });
      }, signal);
    }));
  }

  during<T>(
    enforce: Enforce,
    { signal }: Caller,
    act: (operations: FileOperations) => Promise<T>,
  ): Promise<T> {
    return this.#permits.during(async () => {
      const confinement = await enforce(signal);
      await using _held = await confinement.hold(signal);
      return await this.#pool.during(confinement, async (helper, view) => {
        await using stay = new Stay(helper, view);
        return await act(confinedOperations(typed((deed, signal) => stay.do(deed, signal))));
      });
    }, signal);
  }

  /** Resolves when no helper is left that has been ended. */
  left(): Promise<void> {
    return this.#pool.left();
  }

  [Symbol.dispose](): void {
    this.#pool[Symbol.dispose]();
  }
}

/** Several deeds in one view, one after the other. */
class Stay implements AsyncDisposable {
  readonly #helper: Helper;
  readonly #view: Confinement;
  /** What was asked for last has settled. */
  #last: Promise<unknown> = Promise.resolve();
  #hasEntered = false;
  #isOver = false;

  constructor(helper: Helper, view: Confinement) {
    this.#helper = helper;
    this.#view = view;
  }

  do(deed: Deed, signal: AbortSignal): Promise<Results[DeedName]> {
    if (this.#isOver) throw new Error("the view has been left");
    const result = this.#last.then(() => {
      signal.throwIfAborted();
      const enter = this.#hasEntered ? null : this.#view;
      this.#hasEntered = true;
      return this.#helper.request({ enter, deed, leave: false }, signal);
    });
    this.#last = result.catch(() => {});
    return result;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#isOver = true;
    await this.#last;
    if (!this.#hasEntered) return;
    try {
      await this.#helper.request({ enter: null, deed: null, leave: true }, new AbortController().signal);
    } catch {
      // It is of no use any more, which shows when the next one wants it; what was done in it has been answered.
      this.#helper.kill();
    }
  }
}

/** The result of a deed is that of its name. */
function typed(act: (deed: Deed, signal: AbortSignal) => Promise<Results[DeedName]>): Do {
  return act as Do;
}
