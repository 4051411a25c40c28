import type { ReadResult } from "../protocol/process.ts";
import { ClientError } from "./client_error.ts";
import {
  MAX_EARLY_BYTES,
  MAX_EARLY_BYTES_CATCHING_UP,
  MAX_EARLY_EVENTS,
  MAX_EARLY_EVENTS_CATCHING_UP,
} from "./limits.ts";
import type { ProcessEvent } from "./process.ts";
import { missedEvents } from "./replay.ts";

/**
 * Puts the events of one process in order, each once. What comes before an earlier event waits for it; what comes
 * again, or after the close, is dropped.
 */
export class OrderedEvents {
  #lastSeq: number;
  #highestSeq: number;
  #exitPublished = false;
  #ended = false;
  readonly #early = new Map<number, ProcessEvent>();
  #earlyBytes = 0;
  /** While a `process/read` for the gap is under way: then more events may wait, since the gap will be filled. */
  catchingUp = false;

  /** @param lastSeq The number before the first event that is wanted. */
  constructor(lastSeq = 0) {
    this.#lastSeq = lastSeq;
    this.#highestSeq = lastSeq;
  }

  /** The number up to which everything was published. */
  get lastSeq(): number {
    return this.#lastSeq;
  }

  /** The highest number seen, published or not. */
  get highestSeq(): number {
    return this.#highestSeq;
  }

  /** Whether nothing more is taken: the close was published, or a limit was passed. */
  get ended(): boolean {
    return this.#ended;
  }

  /**
   * Takes one event as it came.
   *
   * @returns What can be published now, in order.
   * @throws {ClientError} `protocol`: too much waits for an event that does not come. Nothing is taken afterwards.
   */
  accept(event: ProcessEvent): readonly ProcessEvent[] {
    const { seq } = event;
    if (this.#ended || seq <= this.#lastSeq) return [];
    if (byteLength(event) > MAX_EARLY_BYTES) throw this.#end(`process event exceeds ${MAX_EARLY_BYTES} bytes`);
    this.#highestSeq = Math.max(this.#highestSeq, seq);
    if (this.#early.has(seq)) return [];
    if (seq !== this.#lastSeq + 1) {
      this.#refuseFlood(event);
      this.#keep(event);
      return [];
    }
    this.#published(event);
    return this.#early.size === 0 ? [event] : [event, ...this.#takeContiguous()];
  }

  /**
   * Fits in the answer to a `process/read` after {@linkcode lastSeq}.
   *
   * @returns What can be published now, in order.
   * @throws {ClientError} `protocol`: it does not fit. Nothing of it was taken.
   */
  recover(answer: ReadResult): readonly ProcessEvent[] {
    if (this.#ended) return [];
    const missed = missedEvents(
      { lastSeq: this.#lastSeq, exitPublished: this.#exitPublished, early: this.#early },
      answer,
    );
    if (answer.sandboxDenied) this.#markDenied();
    for (const event of missed) this.#keep(event);
    this.#highestSeq = Math.max(this.#highestSeq, answer.nextSeq - 1);
    return this.#takeContiguous();
  }

  /** Lets go of everything up to `seq` unpublished, so that the line begins behind it. */
  beginAfter(seq: number): void {
    this.#lastSeq = seq;
    this.#highestSeq = Math.max(this.#highestSeq, seq);
    for (const [early, event] of this.#early) if (early <= seq) this.#forget(event);
  }

  #takeContiguous(): ProcessEvent[] {
    const events: ProcessEvent[] = [];
    for (let event; !this.#ended && (event = this.#early.get(this.#lastSeq + 1)) !== undefined;) {
      this.#forget(event);
      this.#published(event);
      events.push(event);
    }
    return events;
  }

  #published(event: ProcessEvent): void {
    this.#lastSeq = event.seq;
    if (event.type === "exited") this.#exitPublished = true;
    if (event.type === "closed") {
      this.#ended = true;
      this.#early.clear();
    }
  }

  #keep(event: ProcessEvent): void {
    this.#early.set(event.seq, event);
    this.#earlyBytes += byteLength(event);
  }

  #forget(event: ProcessEvent): void {
    this.#early.delete(event.seq);
    this.#earlyBytes -= byteLength(event);
  }

  #refuseFlood(event: ProcessEvent): void {
    const events = this.catchingUp ? MAX_EARLY_EVENTS_CATCHING_UP : MAX_EARLY_EVENTS;
    const bytes = this.catchingUp ? MAX_EARLY_BYTES_CATCHING_UP : MAX_EARLY_BYTES;
    if (this.#early.size >= events) throw this.#end(`process event reorder buffer exceeds ${events} entries`);
    if (this.#earlyBytes + byteLength(event) > bytes) {
      throw this.#end(`process event reorder buffer exceeds ${bytes} bytes`);
    }
  }

  #end(reason: string): ClientError {
    this.#ended = true;
    this.#early.clear();
    return new ClientError("protocol", reason);
  }

  /** An exit that waits learns from a later answer that a sandbox denied something. */
  #markDenied(): void {
    for (const event of this.#early.values()) {
      if (event.type === "exited") this.#early.set(event.seq, { ...event, sandboxDenied: true });
    }
  }
}

function byteLength(event: ProcessEvent): number {
  return event.type === "output" ? event.bytes.length : 0;
}
