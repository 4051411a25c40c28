import type { Clock } from "../clock.ts";
import type { Connection } from "../rpc/connection.ts";
import { OUTGOING_QUEUE_CAPACITY } from "./limits.ts";
import type { Span } from "./telemetry.ts";

/** One request on its way out. */
export interface OutgoingRequest {
  readonly method: string;
  readonly text: string;
  readonly span: Span | undefined;
  /** Whether anybody still waits for the answer; otherwise it is not sent. */
  isWanted(): boolean;
}

/**
 * Requests in the order of the calls, held back while the server does not read. As many can wait as there may be calls
 * in flight: that is what bounds it.
 */
export class Outbox {
  readonly #connection: Connection;
  readonly #clock: Clock;
  #waiting: { readonly request: OutgoingRequest; readonly since: number }[] = [];
  #flushing = false;

  constructor(connection: Connection, clock: Clock) {
    this.#connection = connection;
    this.#clock = clock;
  }

  send(request: OutgoingRequest): void {
    const since = this.#clock.now();
    if (this.#waiting.length === 0 && !this.#connection.congested) return this.#hand(request, since);
    this.#waiting.push({ request, since });
    if (!this.#flushing) void this.#flush();
  }

  /** The connection has ended. */
  drop(): void {
    this.#waiting = [];
  }

  async #flush(): Promise<void> {
    this.#flushing = true;
    while (this.#waiting.length > 0) {
      await this.#connection.drained();
      do {
        const next = this.#waiting.shift();
        if (next?.request.isWanted()) this.#hand(next.request, next.since);
      } while (this.#waiting.length > 0 && !this.#connection.congested);
    }
    this.#flushing = false;
  }

  #hand({ method, text, span }: OutgoingRequest, since: number): void {
    this.#connection.send(text);
    span?.event("codex.exec_server.request_enqueued", {
      "rpc.method": method,
      enqueue_wait_ms: this.#clock.now() - since,
      outgoing_queue_depth: Math.min(this.#waiting.length, OUTGOING_QUEUE_CAPACITY),
      outgoing_queue_capacity: OUTGOING_QUEUE_CAPACITY,
    });
  }
}
