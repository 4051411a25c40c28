import type { Clock, Timer } from "../clock.ts";
import type { ResponseMessage } from "../rpc/message.ts";
import type { CallOptions } from "./calls.ts";
import { checkDuration } from "./check_duration.ts";
import { callTimeout, type ClientError } from "./client_error.ts";
import { MAX_PENDING_CALLS } from "./limits.ts";

/** What came back for one call. */
export interface Answer {
  readonly outcome: ResponseMessage["outcome"];
  /** When it was read, by the client's clock. */
  readonly readAt: number;
}

/** Admission: the place of one call among those in flight. */
export type Place = "ordinary" | "reserved";

/**
 * Calls of one connection that wait for their answers: at most {@linkcode MAX_PENDING_CALLS} and one more that cleans
 * up. Ids count from 1. A call that is given up frees its place; its answer is then ignored.
 */
export class PendingCalls {
  readonly #clock: Clock;
  readonly #calls = new Map<string, { settle(answer: Answer): void; fail(error: ClientError): void }>();
  #lastId = 0;
  #ordinary = 0;
  #reservedTaken = false;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  get size(): number {
    return this.#calls.size;
  }

  /** A place for a call; undefined if there is none. */
  place(cleanup: boolean): Place | undefined {
    if (this.#ordinary < MAX_PENDING_CALLS) return "ordinary";
    return cleanup && !this.#reservedTaken ? "reserved" : undefined;
  }

  /**
   * Takes the place and sends the call.
   *
   * @param send Gets the id, and returns what withdraws the call if it has not left. What it throws leaves nothing behind.
   * @throws {ClientError} When the time is up, or what {@linkcode fail} was given; the signal's reason.
   * @throws {RangeError} The time limit is none.
   */
  open(method: string, place: Place, options: CallOptions, send: (id: number) => () => void): Promise<Answer> {
    const { signal, timeoutMs } = options;
    if (timeoutMs !== undefined) checkDuration("timeoutMs", timeoutMs);
    const id = ++this.#lastId;
    const key = String(id);
    const { promise, resolve, reject } = Promise.withResolvers<Answer>();
    let timer: Timer | undefined;
    let withdraw: (() => void) | undefined;
    const done = () => {
      this.#calls.delete(key);
      this.#occupy(place, -1);
      timer?.cancel();
      signal?.removeEventListener("abort", abort);
    };
    const fail = (error: unknown) => {
      done();
      withdraw?.();
      reject(error);
    };
    const abort = () => fail(signal?.reason);
    this.#occupy(place, 1);
    this.#calls.set(key, {
      settle: (answer) => {
        done();
        resolve(answer);
      },
      fail,
    });
    signal?.addEventListener("abort", abort, { once: true });
    if (timeoutMs !== undefined) timer = this.#clock.after(timeoutMs, () => fail(callTimeout(method, timeoutMs)));
    try {
      // The connection may end at it, and so the call.
      withdraw = send(id);
    } catch (error) {
      this.#lastId--;
      done();
      throw error;
    }
    return promise;
  }

  #occupy(place: Place, change: 1 | -1): void {
    if (place === "ordinary") this.#ordinary += change;
    else this.#reservedTaken = change === 1;
  }

  /** Hands an answer to whoever waits for it; nobody does if the id is unknown. */
  settle({ id, outcome }: ResponseMessage): void {
    this.#calls.get(id)?.settle({ outcome, readAt: this.#clock.now() });
  }

  /** No answer comes any more. */
  fail(error: ClientError): void {
    for (const call of [...this.#calls.values()]) call.fail(error);
  }
}
