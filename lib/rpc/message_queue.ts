import type { Message } from "./connection.ts";

/** Places that are done with are given back after so many. */
const SPENT_PLACES = 1024;

/** Messages that have not had their turn. Unbounded by itself: what waits counts as unanswered input. */
export class MessageQueue {
  /** The first `#head` are done with. */
  #messages: Message[] = [];
  #head = 0;

  get length(): number {
    return this.#messages.length - this.#head;
  }

  push(message: Message): void {
    this.#messages.push(message);
  }

  /** The oldest; there must be one. */
  shift(): Message {
    const message = this.#messages[this.#head++]!;
    if (this.#head === this.#messages.length) this.clear();
    else if (this.#head >= SPENT_PLACES) {
      this.#messages.splice(0, this.#head);
      this.#head = 0;
    }
    return message;
  }

  clear(): void {
    this.#messages = [];
    this.#head = 0;
  }
}
