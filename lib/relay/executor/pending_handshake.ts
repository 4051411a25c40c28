/**
 * A handshake between its first message and its answer. The peer can use its stream id again in the meantime: what comes
 * back of an awaited step is of this object, or of none, and never of whatever else has the same id now.
 */
export class PendingHandshake {
  readonly streamId: string;
  /** The first message. */
  readonly message1: Uint8Array<ArrayBuffer>;
  /** Resolves when nobody waits for the answer any more. */
  readonly abandoned: Promise<undefined>;
  /** It has been counted as a failure already. */
  counted = false;
  #abandon!: (value: undefined) => void;
  #isAbandoned = false;

  constructor(streamId: string, message1: Uint8Array<ArrayBuffer>) {
    this.streamId = streamId;
    this.message1 = message1;
    this.abandoned = new Promise((resolve) => this.#abandon = resolve);
  }

  get isAbandoned(): boolean {
    return this.#isAbandoned;
  }

  abandon(): void {
    this.#isAbandoned = true;
    this.#abandon(undefined);
  }
}
