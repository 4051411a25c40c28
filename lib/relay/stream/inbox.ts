import type { ConnectionEnd, Receiver } from "../../rpc/connection.ts";

/**
 * Hands messages to a receiver that may ask to wait, in order, and the end after the last of them. It says when it has
 * some that wait: then nothing more should be read. What was read already is kept, up to one read of the network.
 */
export class Inbox {
  readonly #receiver: Receiver;
  readonly #full: (isFull: boolean) => void;
  #waiting: Uint8Array<ArrayBuffer>[] = [];
  #busy = false;
  #end: ConnectionEnd | undefined;
  #ended = false;

  /** @param full Called with true when messages begin to wait, with false when more can be read. */
  constructor(receiver: Receiver, full: (isFull: boolean) => void) {
    [this.#receiver, this.#full] = [receiver, full];
  }

  put(message: Uint8Array<ArrayBuffer>): void {
    if (this.#end !== undefined) return;
    if (this.#busy) this.#waiting.push(message);
    else this.#deliver(message);
  }

  /** No further message comes. */
  end(end: ConnectionEnd): void {
    this.#end ??= end;
    if (!this.#busy) this.#tellEnd();
  }

  /** What waits is not delivered any more. */
  endAtOnce(end: ConnectionEnd): void {
    this.#waiting = [];
    this.#end ??= end;
    this.#tellEnd();
  }

  #deliver(message: Uint8Array<ArrayBuffer>): void {
    const busy = this.#receiver.message(message);
    if (busy === undefined || this.#ended) return;
    this.#busy = true;
    this.#full(true);
    const goOn = () => this.#goOn();
    busy.then(goOn, goOn);
  }

  #goOn(): void {
    this.#busy = false;
    while (!this.#busy && this.#waiting.length > 0) this.#deliver(this.#waiting.shift()!);
    if (this.#busy) return;
    if (this.#end !== undefined) this.#tellEnd();
    else this.#full(false);
  }

  #tellEnd(): void {
    if (this.#ended) return;
    this.#ended = true;
    this.#receiver.ended(this.#end!);
  }
}
