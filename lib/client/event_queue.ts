import { EVENT_OVERHEAD_BYTES } from "./limits.ts";
import type { ProcessEvent } from "./process.ts";

/** A hole at the front of this length is closed; shorter ones cost less than moving what follows. */
const MAX_HOLE = 1024;

/** Events of one process in order, first in, first out, with their sizes. Whoever fills it keeps its bounds. */
export class EventQueue {
  #events: (ProcessEvent | undefined)[] = [];
  /** The events before this place have left. */
  #head = 0;
  #outputBytes = 0;

  get length(): number {
    return this.#events.length - this.#head;
  }

  /** Bytes of output. */
  get outputBytes(): number {
    return this.#outputBytes;
  }

  /** Bytes of output and about what the events take besides, so that tiny ones count as well. */
  get weight(): number {
    return this.#outputBytes + this.length * EVENT_OVERHEAD_BYTES;
  }

  /** The oldest event. */
  get first(): ProcessEvent | undefined {
    return this.#events[this.#head];
  }

  push(event: ProcessEvent): void {
    this.#events.push(event);
    this.#outputBytes += outputLength(event);
  }

  /** Takes the oldest event out. */
  shift(): ProcessEvent | undefined {
    const event = this.#events[this.#head];
    if (event === undefined) return undefined;
    this.#events[this.#head++] = undefined;
    this.#outputBytes -= outputLength(event);
    if (this.#head === this.#events.length || this.#head > MAX_HOLE && this.#head * 2 > this.#events.length) {
      this.#events = this.#events.slice(this.#head);
      this.#head = 0;
    }
    return event;
  }

  clear(): void {
    this.#events = [];
    this.#head = 0;
    this.#outputBytes = 0;
  }

  *[Symbol.iterator](): IterableIterator<ProcessEvent> {
    for (let at = this.#head; at < this.#events.length; at++) yield this.#events[at] as ProcessEvent;
  }
}

function outputLength(event: ProcessEvent): number {
  return event.type === "output" ? event.bytes.length : 0;
}
