import { Fifo } from "../fifo.ts";
import type { NotificationParams } from "../protocol/methods.ts";
import type { ClientError } from "./client_error.ts";
import type { ByteSource } from "./byte_source.ts";
import { BODY_HIGH_WATER_BYTES, BODY_LOW_WATER_BYTES, EVENT_OVERHEAD_BYTES } from "./limits.ts";

export type Delta = NotificationParams<"http/request/bodyDelta">;

/** Hears what is wanted of a body. */
export interface BodyKeeper {
  /** More has come than was read, or it can go on. */
  hold(on: boolean): void;
  /** Nothing more of it is wanted, and its end has not come. */
  cancel(): void;
}

interface BodyOwner {
  readonly keeper: BodyKeeper;
  /** So many bytes are queued, or not any more if it is negative; each delta with what it takes besides. */
  queued(bytes: number): void;
  /** Nothing more of it is taken. */
  forgotten(): void;
}

/** One body on its way: deltas in, bytes out. What came before it failed is read before the failure. */
export class StreamedBody implements ByteSource {
  /** What the wire calls it. */
  readonly requestId: string;
  readonly #owner: BodyOwner;
  readonly #queue = new Fifo<Uint8Array<ArrayBuffer>>();
  #queuedBytes = 0;
  #held = false;
  #lastSeq = 0;
  /** Null: it ended as it should. */
  #end: ClientError | null | undefined;
  #waiter: PromiseWithResolvers<Uint8Array<ArrayBuffer> | null> | undefined;

  constructor(requestId: string, owner: BodyOwner) {
    this.requestId = requestId;
    this.#owner = owner;
  }

  get nextSeq(): number {
    return this.#lastSeq + 1;
  }

  /** Deltas that have not been read. */
  get queued(): number {
    return this.#queue.length;
  }

  /** Whether the next delta is read at once. */
  get waiting(): boolean {
    return this.#waiter !== undefined;
  }

  push(bytes: Uint8Array<ArrayBuffer>): void {
    this.#lastSeq++;
    if (bytes.length === 0) return;
    if (this.#waiter === undefined) {
      this.#queue.push(bytes);
      this.#count(weightOf(bytes));
    } else {
      this.#waiter.resolve(bytes);
      this.#waiter = undefined;
    }
  }

  /** @param error What is read behind everything else; null: the end. */
  end(error: ClientError | null): void {
    this.#end ??= error;
    if (this.#waiter === undefined) return;
    if (this.#end === null) this.#waiter.resolve(null);
    else this.#waiter.reject(this.#end);
    this.#waiter = undefined;
  }

  /** As {@linkcode StreamedBody.end}, for a failure of our own: the server is told to stop. */
  giveUp(error: ClientError): void {
    this.end(error);
    this.#owner.keeper.cancel();
  }

  /** To be called again only when it has settled. */
  read(): Promise<Uint8Array<ArrayBuffer> | null> {
    const bytes = this.#queue.shift();
    if (bytes !== undefined) {
      this.#count(-weightOf(bytes));
      return Promise.resolve(bytes);
    }
    if (this.#end !== undefined) return this.#end === null ? Promise.resolve(null) : Promise.reject(this.#end);
    this.#waiter = Promise.withResolvers();
    return this.#waiter.promise;
  }

  /** Gives it up, and the server is told so where it can be. */
  cancel(): void {
    const isOver = this.#end !== undefined;
    this.forget();
    if (!isOver) this.#owner.keeper.cancel();
  }

  /** Gives it up: the server does not send it, or not any more. */
  forget(): void {
    this.end(null);
    this.#queue.clear();
    this.#count(-this.#queuedBytes);
    this.#owner.forgotten();
  }

  #count(change: number): void {
    this.#queuedBytes += change;
    this.#owner.queued(change);
    const hold = this.#queuedBytes > (this.#held ? BODY_LOW_WATER_BYTES : BODY_HIGH_WATER_BYTES);
    if (hold === this.#held || this.#end !== undefined) return;
    this.#held = hold;
    this.#owner.keeper.hold(hold);
  }
}

/** What a delta counts while it waits. */
export function weightOf(bytes: Uint8Array): number {
  return bytes.length + EVENT_OVERHEAD_BYTES;
}
