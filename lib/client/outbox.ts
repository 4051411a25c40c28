import type { Clock } from "../clock.ts";
import type { Connection } from "../rpc/connection.ts";
import {
  MAX_UNANSWERED_CLEANUPS,
  MAX_UNANSWERED_REQUESTS,
  MAX_WAITING_ANSWERS,
  OUTGOING_QUEUE_CAPACITY,
} from "./limits.ts";
import type { Span } from "./telemetry.ts";

/** One request on its way out. */
export interface OutgoingRequest {
  /** What its answer is told by. */
  readonly id: string;
  readonly method: string;
  /** It cleans up: it need not wait for the answers to others. */
  readonly cleanup: boolean;
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
 * Messages in the order in which they were sent, held back while the server does not read, and requests also while
 * {@linkcode MAX_UNANSWERED_REQUESTS} have not been answered, unless the server is known to read on. Requests that nobody waits for any more are withdrawn, so
 * that as many can wait as there may be calls in flight; answers have a bound of their own.
 */
export class Outbox {
  readonly #connection: Connection;
  readonly #clock: Clock;
  /** In their order; a set, because any of them may be withdrawn. */
  readonly #waiting = new Set<Waiting>();
  #answers = 0;
  /** The requests that have left; those as well whose answer nobody waits for any more. */
  readonly #unanswered = new Set<string>();
  /** Ends the wait for an answer, while there is one: there may be something to send. */
  #wake: (() => void) | undefined;
  #flushing = false;
  #isLimited = true;

  constructor(connection: Connection, clock: Clock) {
    this.#connection = connection;
    this.#clock = clock;
  }

  /** @returns Withdraws the request if it has not left; harmless otherwise. */
  send(request: OutgoingRequest): () => void {
    const waiting = { request, text: request.text, since: this.#clock.now() };
    const inTurn = this.#waiting.size === 0 || request.cleanup;
    if (inTurn && this.#mayLeave(request) && !this.#connection.congested) this.#hand(waiting);
    else this.#wait(waiting);
    return () => void this.#waiting.delete(waiting);
  }

  /** An answer to the server. @returns Whether there was room for it. */
  answer(text: string): boolean {
    if (!this.#connection.congested) this.#connection.send(text);
    else if (this.#answers >= MAX_WAITING_ANSWERS) return false;
    else {
      this.#answers++;
      this.#wait({ request: undefined, text, since: this.#clock.now() });
    }
    return true;
  }

  /** The server reads on whatever has not been answered: requests only wait for it to read from here on. */
  lift(): void {
    this.#isLimited = false;
    this.#wake?.();
  }

  /** A request was answered; unknown ids are ignored. */
  answered(id: string): void {
    if (this.#unanswered.delete(id)) this.#wake?.();
  }

  /** The connection has ended. */
  drop(): void {
    this.#waiting.clear();
    this.#wake?.();
  }

  #mayLeave(request: OutgoingRequest | undefined): boolean {
    if (request === undefined || !this.#isLimited) return true;
    return this.#unanswered.size < (request.cleanup ? MAX_UNANSWERED_CLEANUPS : MAX_UNANSWERED_REQUESTS);
  }

  #wait(message: Waiting): void {
    this.#waiting.add(message);
    if (!this.#flushing) void this.#flush();
    // It waits for room alone, and not for what those before it wait for.
    else if (this.#mayLeave(message.request)) this.#wake?.();
  }

  async #flush(): Promise<void> {
    this.#flushing = true;
    while (this.#waiting.size > 0) {
      await this.#connection.drained();
      for (const message of this.#waiting) {
        if (this.#connection.congested) break;
        if (!this.#mayLeave(message.request)) continue;
        this.#waiting.delete(message);
        this.#hand(message);
      }
      if (this.#waiting.size > 0 && !this.#connection.congested) await this.#oneAnswered();
    }
    this.#flushing = false;
  }

  async #oneAnswered(): Promise<void> {
    const { promise, resolve } = Promise.withResolvers<void>();
    this.#wake = resolve;
    await promise;
    this.#wake = undefined;
  }

  #hand({ request, text, since }: Waiting): void {
    this.#connection.send(text);
    if (request === undefined) {
      this.#answers--;
      return;
    }
    this.#unanswered.add(request.id);
    request.span?.event("codex.exec_server.request_enqueued", {
      "rpc.method": request.method,
      enqueue_wait_ms: this.#clock.now() - since,
      outgoing_queue_depth: Math.min(this.#waiting.size, OUTGOING_QUEUE_CAPACITY),
      outgoing_queue_capacity: OUTGOING_QUEUE_CAPACITY,
    });
  }
}
