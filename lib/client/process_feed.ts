import type { ReadResult } from "../protocol/process.ts";
import { ClientError, protocolError } from "./client_error.ts";
import { EventQueue } from "./event_queue.ts";
import { FeedReader } from "./feed_reader.ts";
import { HISTORY_BYTES, HISTORY_EVENTS, UNREAD_HIGH_WATER_BYTES, UNREAD_LOW_WATER_BYTES } from "./limits.ts";
import type { ProcessEvent } from "./process.ts";

/** Where the events come from, as far as their readers reach back. */
export interface FeedSource {
  /** Asks that the program be held while its output is not read, or no longer. It must not throw. */
  hold?(on: boolean): void;
  /** What whoever runs the program remembers of its output. */
  read(query: { afterSeq: number; maxBytes: null; waitMs: 0 }): Promise<ReadResult>;
}

export type OutputName = "stdout" | "stderr" | "output";
type ExitEvent = Extract<ProcessEvent, { type: "exited" }>;

/**
 * What one process does, told to any number of readers who do not wait for each other.
 *
 * Until the first reader comes, up to 16 MiB are kept for it, the newest. Afterwards at least the last 256 events and
 * 1 MiB, whichever is less, are kept for those who come late. What a reader has not taken yet is kept for it: beyond
 * 16 MiB the program is held where that is possible, and beyond 256 MiB nothing is kept for that reader any more.
 */
export class ProcessFeed {
  readonly #source: FeedSource;
  readonly #readers = new Set<FeedReader>();
  readonly #history = new EventQueue();
  /** Bytes of output that are no longer in the history, by stream. */
  readonly #forgotten = { stdout: 0, stderr: 0, output: 0 };
  readonly #exit = Promise.withResolvers<ExitEvent>();
  readonly #close = Promise.withResolvers<void>();
  #exitEvent: ExitEvent | undefined;
  #failure: ClientError | undefined;
  #isClosed = false;
  #hadReader = false;
  #holding = false;
  #neverHolds = false;

  constructor(source: FeedSource) {
    this.#source = source;
    // Whoever waits for them hears of a failure; nobody has to.
    this.#exit.promise.catch(() => {});
    this.#close.promise.catch(() => {});
  }

  /** Resolves with the exit; rejects with what the feed failed with. */
  get exited(): Promise<ExitEvent> {
    return this.#exit.promise;
  }

  /** Resolves when everything was published; rejects with what the feed failed with. */
  get closed(): Promise<void> {
    return this.#close.promise;
  }

  get exitEvent(): ExitEvent | undefined {
    return this.#exitEvent;
  }

  get failure(): ClientError | undefined {
    return this.#failure;
  }

  /** Whether no event comes any more. */
  get ended(): boolean {
    return this.#isClosed || this.#failure !== undefined;
  }

  get history(): Pick<EventQueue, "first"> & Iterable<ProcessEvent> {
    return this.#history;
  }

  /** The next event: they come in order, without gaps, each once. Dropped once the feed has ended. */
  publish(event: ProcessEvent): void {
    if (this.ended) return;
    this.#history.push(event);
    if (event.type === "exited") {
      this.#exitEvent = event;
      this.#exit.resolve(event);
    } else if (event.type === "closed") {
      this.#isClosed = true;
      this.#holding = false;
      this.#exit.reject(protocolError("process was closed without an exit"));
      this.#close.resolve();
    }
    for (const reader of this.#readers) reader.push(event);
    this.#forgetOldest();
    if (event.type === "output") this.#holdIfNeeded();
  }

  /** Ends the feed: everybody gets what was published before, and then this error. */
  fail(error: ClientError): void {
    if (this.ended) return;
    this.#failure = error;
    this.#exit.reject(error);
    this.#close.reject(error);
    this.#setHolding(false);
    for (const reader of this.#readers) reader.wake();
  }

  /** Every event from the oldest that is kept; the number of the first one tells whether that is the beginning. */
  events(): FeedReader {
    return this.#subscribe(() => true);
  }

  /**
   * One stream of output as bytes, from its beginning.
   *
   * Its reading rejects with a {@linkcode ClientError} `outputLost` if the beginning is no longer kept. The bytes are
   * shared with other readers.
   */
  stream(name: OutputName): ReadableStream<Uint8Array<ArrayBuffer>> {
    const missing = this.#forgotten[name];
    const reader = this.#subscribe((event) => event.type === "output" && belongsTo(event.stream, name));
    if (missing > 0) {
      const bytes = missing === 1 ? "byte of it is" : `${missing} bytes of it are`;
      reader.fail(
        new ClientError("outputLost", `${name} was not read from the start, and the first ${bytes} no longer kept`),
      );
    }
    return new ReadableStream<Uint8Array<ArrayBuffer>>({
      async pull(controller) {
        const event = await reader.take();
        if (event?.type === "output") controller.enqueue(event.bytes);
        else controller.close();
      },
      cancel: () => reader.close(),
    }, { highWaterMark: 0 });
  }

  /** Lets the program run on, and for good: whoever reads slowly may lose output. For a program that is to end. */
  neverHold(): void {
    this.#neverHolds = true;
    this.#setHolding(false);
  }

  #subscribe(wants: (event: ProcessEvent) => boolean): FeedReader {
    const reader = new FeedReader(this, wants, {
      read: (afterSeq) => this.#source.read({ afterSeq, maxBytes: null, waitMs: 0 }),
      taken: () => this.#releaseIfPossible(),
      closed: (closed) => {
        this.#readers.delete(closed);
        this.#releaseIfPossible();
      },
    });
    this.#hadReader = true;
    this.#readers.add(reader);
    this.#holdIfNeeded();
    return reader;
  }

  #holdIfNeeded(): void {
    if (this.#holding || this.#neverHolds || this.ended) return;
    for (const { unreadBytes } of this.#readers) {
      if (unreadBytes > UNREAD_HIGH_WATER_BYTES) return this.#setHolding(true);
    }
  }

  #releaseIfPossible(): void {
    if (!this.#holding) return;
    for (const { unreadBytes } of this.#readers) if (unreadBytes >= UNREAD_LOW_WATER_BYTES) return;
    this.#setHolding(false);
  }

  #setHolding(on: boolean): void {
    if (this.#holding === on) return;
    this.#holding = on;
    this.#source.hold?.(on);
  }

  #forgetOldest(): void {
    const history = this.#history;
    if (this.#hadReader) {
      // What a reader still has before it costs nothing to keep: a second one may come to read the same.
      let needed: number | undefined;
      while (history.length > HISTORY_EVENTS || history.outputBytes > HISTORY_BYTES) {
        needed ??= this.#firstUnreadSeq();
        const isNeeded = history.first!.seq >= needed;
        if (isNeeded && history.weight <= UNREAD_HIGH_WATER_BYTES) break;
        this.#forget();
      }
    } else {
      while (history.weight > UNREAD_HIGH_WATER_BYTES) this.#forget();
    }
  }

  #firstUnreadSeq(): number {
    let first = Infinity;
    for (const { lastSeq } of this.#readers) first = Math.min(first, lastSeq + 1);
    return first;
  }

  #forget(): void {
    const event = this.#history.shift();
    if (event?.type !== "output") return;
    this.#forgotten.output += event.bytes.length;
    this.#forgotten[event.stream === "stderr" ? "stderr" : "stdout"] += event.bytes.length;
  }
}

/** A terminal has one stream, which counts as stdout. */
function belongsTo(stream: "stdout" | "stderr" | "pty", name: OutputName): boolean {
  return name === "output" || (stream === "stderr" ? "stderr" : "stdout") === name;
}
