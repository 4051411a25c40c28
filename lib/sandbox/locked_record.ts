/** The record of mount points, which is locked whenever something is done with it. */

import type { Clock } from "../clock.ts";
import { ExecError } from "../errors.ts";
import type { MountPointCalls } from "./mount_point_calls.ts";
import { openRecordDirectory } from "./mount_point_directory.ts";
import { MountPointRecord } from "./mount_point_record.ts";

/** How long another server may keep the record locked; it needs about a millisecond. */
export const LOCK_WAIT_MS = 5_000;
const FIRST_LOOK_MS = 1;
const LONGEST_LOOK_MS = 50;
/** How often the record is tried to be locked at the end, a millisecond apart. */
const LAST_TRIES = 50;

export interface LockedRecordOptions {
  readonly directory: string;
  readonly uid: number;
  readonly clock: Clock;
  readonly calls: MountPointCalls;
}

/** What is done with the record while no other server changes anything. */
export type WithRecord<T> = (record: MountPointRecord) => T;

/** Opened when it is first needed, and again when somebody has removed it. */
export class LockedRecord {
  readonly #options: LockedRecordOptions;
  #record: MountPointRecord | undefined;
  #isEnding = false;

  constructor(options: LockedRecordOptions) {
    this.#options = options;
  }

  /** Whether it has been used and not been closed since. */
  get isOpen(): boolean {
    return this.#record !== undefined;
  }

  get isEnding(): boolean {
    return this.#isEnding;
  }

  /** It is not opened any more; what is open can still be used. */
  beginEnding(): void {
    this.#isEnding = true;
  }

  /**
   * Waits for others, for at most {@linkcode LOCK_WAIT_MS}.
   *
   * @throws {ExecError} `sandboxUnavailable`, also when the record cannot be used.
   */
  async use<T>(act: WithRecord<T>, signal?: AbortSignal): Promise<T> {
    const { clock } = this.#options;
    const until = clock.now() + LOCK_WAIT_MS;
    for (let wait = FIRST_LOOK_MS;; wait = Math.min(2 * wait, LONGEST_LOOK_MS)) {
      signal?.throwIfAborted();
      const lock = this.#opened().tryLock();
      // Nothing else can happen between the two: whoever ends us finds the record unlocked.
      if (typeof lock === "number") return this.#useUnder(lock, act);
      if (clock.now() >= until) {
        throw new ExecError("sandboxUnavailable", "another server keeps the record of mount points locked");
      }
      if (lock === "gone") this.close();
      else await new Promise<void>((resolve) => clock.after(wait, resolve));
    }
  }

  /**
   * The same without letting anything else happen meanwhile, and for {@linkcode LAST_TRIES} ms only.
   *
   * @returns Whether it was done.
   */
  useSoon(act: WithRecord<void>): boolean {
    const sleeping = new Int32Array(new SharedArrayBuffer(4));
    for (let tries = 0; tries < LAST_TRIES; tries++) {
      const lock = this.#opened().tryLock();
      if (lock === "gone") return false;
      if (typeof lock === "number") {
        this.#useUnder(lock, act);
        return true;
      }
      Atomics.wait(sleeping, 0, 0, FIRST_LOOK_MS);
    }
    return false;
  }

  close(): void {
    this.#record?.[Symbol.dispose]();
    this.#record = undefined;
  }

  /** @param lock Is given back. */
  #useUnder<T>(lock: number, act: WithRecord<T>): T {
    try {
      return act(this.#opened());
    } finally {
      this.#options.calls.close(lock);
    }
  }

  #opened(): MountPointRecord {
    if (this.#record !== undefined) return this.#record;
    if (this.#isEnding) throw new ExecError("sandboxUnavailable", "the server is ending");
    const { directory, uid, calls } = this.#options;
    return this.#record = new MountPointRecord(calls, directory, openRecordDirectory(calls, directory, uid));
  }
}
