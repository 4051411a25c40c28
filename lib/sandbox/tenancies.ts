import type { Clock } from "../clock.ts";
import type { FirstProcess } from "./first_process.ts";
import type { MountPointLease } from "./mount_points.ts";

/** How long {@linkcode Tenancies.wait} waits at most, in ms: the kernel is killing what is left, which it does at once. */
const LAST_WAIT_MS = 500;
const LOOK_MS = 1;

interface Tenancy {
  readonly lease: MountPointLease;
  readonly first: FirstProcess;
}

/** What sandboxes that run rely on, and that it stays until everything in them has ended. */
export class Tenancies {
  readonly #clock: Clock;
  readonly #all = new Set<Tenancy>();

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** Sandboxes that are not known to have ended. */
  get size(): number {
    return this.#all.size;
  }

  /** @returns What to call when the process that was started has ended, or none was; it resolves when all have. */
  begin(lease: MountPointLease, first: FirstProcess): (wasStarted: boolean) => Promise<void> {
    const tenancy = { lease, first };
    this.#all.add(tenancy);
    return async (wasStarted) => {
      try {
        if (wasStarted) first.kill();
        await first.ended(this.#clock, wasStarted);
      } finally {
        this.#all.delete(tenancy);
        first[Symbol.dispose]();
      }
      await lease[Symbol.asyncDispose]();
    };
  }

  /**
   * Ends what is left of all sandboxes, whose outer processes have been killed before, and waits for that without letting
   * anything else happen.
   *
   * @returns Whether they have.
   */
  wait(): boolean {
    const until = performance.now() + LAST_WAIT_MS;
    const sleeping = new Int32Array(new SharedArrayBuffer(4));
    for (const { first } of this.#all) first.kill();
    for (const tenancy of this.#all) {
      while (tenancy.first.look() === "alive") {
        if (performance.now() >= until) return false;
        Atomics.wait(sleeping, 0, 0, LOOK_MS);
      }
      this.#all.delete(tenancy);
      tenancy.first[Symbol.dispose]();
    }
    return true;
  }
}
