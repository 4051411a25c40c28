import { Fifo } from "../../fifo.ts";
import type { Receiver } from "../../rpc/connection.ts";
import { weightOf } from "../../rpc/input_budget.ts";
import type { AssemblyBudget } from "./assembly_budget.ts";
import { StreamError } from "./stream_error.ts";

/** Messages on their last step to a receiver, who may ask to wait. Until there is one, all of them wait. */
export class WaitingMessages {
  readonly #budget: AssemblyBudget;
  readonly #limit: number;
  readonly #queue = new Fifo<Uint8Array<ArrayBuffer>>();
  #take: Receiver["message"] | undefined;
  #paused = false;
  #heldBytes = 0;

  /**
   * @param budget What waits is counted in it.
   * @param limit How many may wait.
   */
  constructor(budget: AssemblyBudget, limit: number = Infinity) {
    this.#budget = budget;
    this.#limit = limit;
  }

  /** Hands over what waits, and from now on what comes. */
  start(take: Receiver["message"]): void {
    this.#take = take;
    this.#handOver();
  }

  /** @throws {StreamError} It would have to wait, and there is no room. */
  deliver(message: Uint8Array<ArrayBuffer>): void {
    if (this.#take !== undefined && !this.#paused) return this.#hand(this.#take, message);
    if (this.#queue.length >= this.#limit) throw new StreamError("too many waiting messages");
    const weight = weightOf(message);
    if (!this.#budget.take(weight)) throw new StreamError("too much held");
    this.#heldBytes += weight;
    this.#queue.push(message);
  }

  /** Forgets what waits. */
  end(): void {
    this.#queue.clear();
    this.#budget.give(this.#heldBytes);
    this.#heldBytes = 0;
  }

  #hand(take: Receiver["message"], message: Uint8Array<ArrayBuffer>): void {
    const pause = take(message);
    if (pause === undefined) return;
    this.#paused = true;
    void pause.then(() => {
      this.#paused = false;
      this.#handOver();
    });
  }

  #handOver(): void {
    while (!this.#paused && this.#take !== undefined) {
      const message = this.#queue.shift();
      if (message === undefined) return;
      const weight = weightOf(message);
      this.#heldBytes -= weight;
      this.#budget.give(weight);
      this.#hand(this.#take, message);
    }
  }
}
