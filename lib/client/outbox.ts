import type { Clock } from "../clock.ts";
import type { Connection } from "../rpc/connection.ts";
import { MAX_WAITING_ANSWERS, OUTGOING_QUEUE_CAPACITY } from "./limits.ts";
import type { Span } from "./telemetry.ts";

/** One request on its way out. */
export interface OutgoingRequest {
  readonly method: string;
  readonly text: string;
  readonly span: Span | undefined;
}

interface Waiting {
  /** Undefined: an answer to the server. */
  readonly request: OutgoingRequest | undefined;
  readonly text: string;
  readonly since: number;
}

/**
 * Messages in the order in which they were sent, held back while the server does not read. Requests that nobody waits
 * for any more are withdrawn, so that as many can wait as there may be calls in flight; answers have a bound of their own.
 */
export class Outbox {
  readonly #connection: Connection;
  readonly #clock: Clock;
  /** In their order; a set, because any of them may be withdrawn. */
  readonly #waiting = new Set<Waiting>();
  #answers = 0;
  #flushing = false;

  constructor(connection: Connection, clock: Clock) {
    this.#connection = connection;
    this.#clock = clock;
  }

  /** @returns Withdraws the request if it has not left; harmless otherwise. */
  send(request: OutgoingRequest): () => void {
    const waiting = { request, text: request.text, since: this.#clock.now() };
    if (this.#mustWait()) this.#wait(waiting);
    else this.#hand(waiting);
    return () => void this.#waiting.delete(waiting);
  }

  /** An answer to the server. @returns Whether there was room for it. */
  answer(text: string): boolean {
    if (!this.#mustWait()) this.#connection.send(text);
    else if (this.#answers >= MAX_WAITING_ANSWERS) return false;
    else {
      this.#answers++;
      this.#wait({ request: undefined, text, since: this.#clock.now() });
    }
    return true;
  }

  /** The connection has ended. */
  drop(): void {
    this.#waiting.clear();
  }

  #mustWait(): boolean {
    return this.#waiting.size > 0 || this.#connection.congested;
  }

  #wait(message: Waiting): void {
    this.#waiting.add(message);
    if (!this.#flushing) void this.#flush();
  }

  async #flush(): Promise<void> {
    this.#flushing = true;
    while (this.#waiting.size > 0) {
      await this.#connection.drained();
      for (const message of this.#waiting) {
        this.#waiting.delete(message);
        this.#hand(message);
        if (this.#connection.congested) break;
      }
    }
    this.#flushing = false;
  }

  #hand({ request, text, since }: Waiting): void {
    this.#connection.send(text);
    if (request === undefined) {
      this.#answers--;
      return;
    }
    request.span?.event("codex.exec_server.request_enqueued", {
      "rpc.method": request.method,
      enqueue_wait_ms: this.#clock.now() - since,
      outgoing_queue_depth: Math.min(this.#waiting.size, OUTGOING_QUEUE_CAPACITY),
      outgoing_queue_capacity: OUTGOING_QUEUE_CAPACITY,
    });
  }
}
