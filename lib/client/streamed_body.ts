import type { NotificationParams } from "../protocol/methods.ts";
import type { ClientError } from "./client_error.ts";
import type { ByteSource } from "./byte_source.ts";

export type Delta = NotificationParams<"http/request/bodyDelta">;

interface BodyOwner {
  /** So many queued bytes are gone. */
  taken(bytes: number): void;
  /** Nothing more of it is wanted. */
  cancelled(): void;
}

/** One body on its way: deltas in, bytes out. What came before it failed is read before the failure. */
export class StreamedBody implements ByteSource {
  /** What the wire calls it. */
  readonly requestId: string;
  readonly #owner: BodyOwner;
  #queue: Uint8Array<ArrayBuffer>[] = [];
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
    if (this.#waiter === undefined) this.#queue.push(bytes);
    else if (bytes.length > 0) {
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

  /** To be called again only when it has settled. */
  read(): Promise<Uint8Array<ArrayBuffer> | null> {
    for (let bytes; (bytes = this.#queue.shift()) !== undefined;) {
      if (bytes.length === 0) continue;
      this.#owner.taken(bytes.length);
      return Promise.resolve(bytes);
    }
    if (this.#end !== undefined) return this.#end === null ? Promise.resolve(null) : Promise.reject(this.#end);
    this.#waiter = Promise.withResolvers();
    return this.#waiter.promise;
  }

  cancel(): void {
    this.#owner.taken(this.#queue.reduce((sum, { length }) => sum + length, 0));
    this.#queue = [];
    this.end(null);
    this.#owner.cancelled();
  }
}
