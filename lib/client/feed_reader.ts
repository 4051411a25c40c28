import type { ReadResult } from "../protocol/process.ts";
import { ClientError } from "./client_error.ts";
import { EventQueue } from "./event_queue.ts";
import { MAX_UNREAD_BYTES } from "./limits.ts";
import type { ProcessEvent } from "./process.ts";

/** What a reader sees of its feed. */
export interface Published {
  /** The newest events, without a gap up to the last one published. */
  readonly history: { readonly first: ProcessEvent | undefined } & Iterable<ProcessEvent>;
  readonly exitEvent: ProcessEvent | undefined;
  readonly failure: ClientError | undefined;
  readonly ended: boolean;
}

export interface ReaderLinks {
  /** Everything that is remembered elsewhere after a number. */
  read(afterSeq: number): Promise<ReadResult>;
  /** An event was taken. */
  taken(): void;
  closed(reader: FeedReader): void;
}

/** One reader of a feed: takes the events that it wants at its own pace. */
export class FeedReader implements AsyncIterator<ProcessEvent, undefined> {
  readonly #feed: Published;
  readonly #wants: (event: ProcessEvent) => boolean;
  readonly #links: ReaderLinks;
  readonly #queue = new EventQueue();
  /** Everything up to this number was taken, or is not wanted. */
  #lastSeq = 0;
  /** Set once too much was unread: from then on nothing is queued until the reader comes back. */
  #fellBehind = false;
  /** Takes that have to wait, and when the next one may begin. */
  #takes = 0;
  #turn: Promise<void> = Promise.resolve();
  #failure: ClientError | undefined;
  #closed = false;
  #wake: PromiseWithResolvers<void> | undefined;

  constructor(feed: Published, wants: (event: ProcessEvent) => boolean, links: ReaderLinks) {
    this.#feed = feed;
    this.#wants = wants;
    this.#links = links;
    for (const event of feed.history) this.#enqueue(event);
  }

  /** What waits for this reader. */
  get unreadBytes(): number {
    return this.#queue.weight;
  }

  get lastSeq(): number {
    return this.#lastSeq;
  }

  /** The next event, without waiting for the reader. */
  push(event: ProcessEvent): void {
    if (this.#closed || this.#fellBehind) return;
    this.#enqueue(event);
    if (this.#queue.weight > MAX_UNREAD_BYTES) {
      this.#queue.clear();
      this.#fellBehind = true;
    }
    this.wake();
  }

  #enqueue(event: ProcessEvent): void {
    if (this.#wants(event)) this.#queue.push(event);
    else if (this.#queue.length === 0) this.#lastSeq = event.seq;
  }

  /** Whoever waits looks again. */
  wake(): void {
    this.#wake?.resolve();
    this.#wake = undefined;
  }

  /** The reader gets this error instead of further events. */
  fail(error: ClientError): void {
    this.#failure ??= error;
    this.close();
  }

  /** The next event is done; the program may go on without this reader. */
  close(): void {
    this.#closed = true;
    this.#queue.clear();
    this.wake();
    this.#links.closed(this);
  }

  /**
   * The next event that is wanted; undefined: there will be none.
   *
   * @throws {ClientError} What the feed failed with; `outputLost` if this reader was so slow that events are gone.
   */
  take(): Promise<ProcessEvent | undefined> {
    if (this.#takes === 0) {
      const event = this.#shift();
      if (event !== undefined) return Promise.resolve(event);
    }
    this.#takes++;
    // One after the other: whoever asked first gets the first event.
    const taken = this.#turn.then(() => this.#wait()).finally(() => this.#takes--);
    this.#turn = taken.then(() => {}, () => {});
    return taken;
  }

  async #wait(): Promise<ProcessEvent | undefined> {
    while (!this.#closed) {
      const event = this.#shift();
      if (event !== undefined) return event;
      if (this.#fellBehind) await this.#catchUp();
      else if (this.#feed.failure !== undefined) throw this.#feed.failure;
      else if (this.#feed.ended) this.close();
      else await (this.#wake = Promise.withResolvers()).promise;
    }
    if (this.#failure !== undefined) throw this.#failure;
    return undefined;
  }

  #shift(): ProcessEvent | undefined {
    const event = this.#queue.shift();
    if (event === undefined) return undefined;
    this.#lastSeq = event.seq;
    this.#links.taken();
    return event;
  }

  async next(): Promise<IteratorResult<ProcessEvent, undefined>> {
    const value = await this.take();
    return value === undefined ? { done: true, value } : { done: false, value };
  }

  return(): Promise<IteratorResult<ProcessEvent, undefined>> {
    this.close();
    return Promise.resolve({ done: true, value: undefined });
  }

  /** Goes on where the reader was, if that is still kept here or remembered by whoever runs the program. */
  async #catchUp(): Promise<void> {
    try {
      const between = this.#isGone() ? await this.#remembered() : [];
      const last = between.at(-1)?.seq ?? this.#lastSeq;
      this.#fellBehind = false;
      for (const event of between) this.#enqueue(event);
      for (const event of this.#feed.history) if (event.seq > last) this.#enqueue(event);
    } catch (error) {
      if (!(error instanceof ClientError)) throw error;
      this.fail(error);
    }
  }

  #isGone(): boolean {
    return (this.#feed.history.first?.seq ?? Infinity) > this.#lastSeq + 1;
  }

  /** What lies between this reader and what is kept here. */
  async #remembered(): Promise<ProcessEvent[]> {
    const { chunks } = await this.#links.read(this.#lastSeq);
    const events = new Map<number, ProcessEvent>(
      chunks.map(({ seq, stream, bytes }) => [seq, { type: "output", seq, stream, bytes }]),
    );
    const { exitEvent } = this.#feed;
    if (exitEvent !== undefined) events.set(exitEvent.seq, exitEvent);
    const between: ProcessEvent[] = [];
    const end = this.#feed.history.first?.seq ?? Infinity;
    for (let seq = this.#lastSeq + 1; seq < end; seq++) {
      const event = events.get(seq);
      if (event === undefined) {
        throw new ClientError("outputLost", `read too slowly: events ${seq} to ${end - 1} are no longer kept anywhere`);
      }
      between.push(event);
    }
    return between;
  }
}
