import type { Clock } from "../clock.ts";
import type { Log } from "../log.ts";
import type { RefusalReason } from "./events.ts";
import { FAILURE_BUDGET, PAUSE_MS } from "./limits.ts";

/** Refusals that have a line each within `PAUSE_MS`: as many as it takes to make an executor pause. */
const MAX_LINES = FAILURE_BUDGET;

/**
 * A line for each refused handshake, up to a number: whoever holds the rendezvous can send thousands per second, and must
 * not be able to fill a disk. The others are counted, those during a pause always, and their number is said with the next
 * line.
 */
export class RefusalLog {
  readonly #log: Log;
  readonly #clock: Clock;
  #windowEnds = -Infinity;
  #lines = 0;
  #untold = 0;

  constructor(log: Log, clock: Clock) {
    this.#log = log;
    this.#clock = clock;
  }

  refused(reason: RefusalReason): void {
    if (!this.#hasLine(reason)) {
      this.#untold++;
      return;
    }
    this.tellRest();
    this.#log.warn("handshake refused", { reason });
  }

  /** Says how many have had no line; nothing if all have. */
  tellRest(): void {
    if (this.#untold > 0) this.#log.warn("more handshakes refused", { count: this.#untold });
    this.#untold = 0;
  }

  #hasLine(reason: RefusalReason): boolean {
    if (reason === "paused") return false;
    const now = this.#clock.now();
    if (now >= this.#windowEnds) {
      this.#windowEnds = now + PAUSE_MS;
      this.#lines = 0;
    }
    return ++this.#lines <= MAX_LINES;
  }
}
