import type { Clock } from "../../clock.ts";
import { FAILURE_BUDGET, PAUSE_MS } from "../limits.ts";

/**
 * How many handshakes may fail on one socket: each costs some cryptography, and mostly a request to the registry, for
 * somebody who need not be anybody. When `FAILURE_BUDGET` have failed there is a pause of `PAUSE_MS` in which none is
 * read, and the count begins anew with it. Neither time nor a success makes it smaller.
 */
export class FailureBudget {
  readonly #clock: Clock;
  #failures = 0;
  #pausedUntil = -Infinity;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  get paused(): boolean {
    return this.#clock.now() < this.#pausedUntil;
  }

  /** One handshake has failed. @returns Whether a pause begins with it. */
  fail(): boolean {
    this.#failures++;
    if (this.#failures < FAILURE_BUDGET) return false;
    this.#failures = 0;
    this.#pausedUntil = this.#clock.now() + PAUSE_MS;
    return true;
  }
}
