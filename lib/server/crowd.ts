import type { Clock } from "../clock.ts";
import type { Connection } from "../rpc/connection.ts";

/** For how long a request counts as recent, in milliseconds: longer than the pauses of a client that is at work. */
const RECENT_MS = 500;

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

  /** Whether others than this connection have asked lately. */
  isShared(connection: Connection): boolean {
    const othersAskedAt = connection === this.#latest ? this.#otherAt : this.#latestAt;
    return this.#clock.now() - othersAskedAt < RECENT_MS;
  }
}
