import type { Clock } from "../clock.ts";
import { type Connection, HIGH_WATER_BYTES } from "../rpc/connection.ts";

/** For how long a request counts as recent, in milliseconds: longer than the pauses of a client that is at work. */
const RECENT_MS = 500;

/**
 * How much output of a flooding program may wait to leave while another connection is asking, in bytes. Less work then
 * lies before the other's next request: a second client that asked without a pause during a flood of 200 MB had its
 * answer within 1.2 ms in nine of ten cases, and within 6.6 ms at {@linkcode HIGH_WATER_BYTES}.
 */
export const SHARED_HIGH_WATER_BYTES = 128 * 1024;

/** Knows which connections are at work, so that one client's flood makes room for another's requests. */
export class Crowd {
  readonly #clock: Clock;
  #latest: Connection | undefined;
  #latestAt = -Infinity;
  /** The last request of any connection but the latest. */
  #otherAt = -Infinity;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** A connection has asked for something. */
  asked(connection: Connection): void {
    if (connection !== this.#latest) {
      this.#latest = connection;
      this.#otherAt = this.#latestAt;
    }
    this.#latestAt = this.#clock.now();
  }

  /** How much output may wait on this connection now. */
  highWaterBytes(connection: Connection): number {
    const othersAskedAt = connection === this.#latest ? this.#otherAt : this.#latestAt;
    return this.#clock.now() - othersAskedAt < RECENT_MS ? SHARED_HIGH_WATER_BYTES : HIGH_WATER_BYTES;
  }
}
