/** File operations under a sandbox: what those who have a plan to be held need of whoever holds it. */

import type { Clock } from "../../clock.ts";
import type { Log } from "../../log.ts";
import type { FileConfinement } from "../../sandbox/sandbox.ts";
import type { Caller, FileOperations } from "../operations.ts";

/**
 * Works on files as programs could in the sandbox: a process of our own does it whose thread has entered the view of the
 * plan. Files that are opened come back as descriptors, so that what follows is done by the server itself.
 *
 * All operations throw what the plain ones throw, with the errors that the kernel gives inside; besides them `internal`,
 * `fs sandbox helper failed with status …`, where the confinement cannot be entered or the helper is lost. The result of
 * `watchMissing` would be about what is outside: it throws.
 */
export interface Confined extends Disposable {
  /**
   * Operations that are confined one by one.
   *
   * @param enforce Is called once for each operation, when its turn has come: what holds then. What it throws is thrown.
   */
  operations(enforce: Enforce): FileOperations;
  /**
   * Several operations in one view, entered once. They are done one after the other. `act` must not wait for operations
   * of another confinement: the places are few.
   *
   * @param enforce Is called once, when there is a place: what holds then. What it throws is thrown.
   * @param caller Its signal ends the wait for a place, and what is under way.
   * @param act Is given operations that are good until it has settled.
   */
  during<T>(
    enforce: Enforce,
    caller: Caller,
    act: (operations: FileOperations) => Promise<T>,
  ): Promise<T>;
  /** Resolves when no helper is left that has been ended. */
  left(): Promise<void>;
  /** Ends every helper at once, and with them what is under way. */
  [Symbol.dispose](): void;
}

/** What a policy comes to now. */
export type Enforce = (signal: AbortSignal) => Promise<FileConfinement>;

/** What `ConfinedFiles` of `confined_files.ts` is made with. */
export interface ConfinedFilesOptions {
  readonly log: Log;
  readonly clock?: Clock;
}
