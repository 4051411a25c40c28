import type { RelaySocket, SocketEndReason, SocketReceiver } from "../../../lib/relay/socket/relay_socket.ts";

/** A socket whose system takes bytes only as a test says so. */
export class MemorySocket implements RelaySocket {
  readonly sent: Uint8Array<ArrayBuffer>[] = [];
  /** False: what is sent stays in the buffer until `drain`. */
  takesAll = true;
  /** Highest value of `bufferedBytes` so far. */
  peakBytes = 0;
  readonly gone: Promise<void>;
  #buffered: number[] = [];
  #bufferedBytes = 0;
  #waiters: { readonly bytes: number; readonly resolve: () => void }[] = [];
  #sentWaiters: { readonly frames: number; readonly resolve: () => void }[] = [];
  #receiver: SocketReceiver | undefined;
  #ended = false;
  readonly #gone = Promise.withResolvers<void>();

  constructor() {
    this.gone = this.#gone.promise;
  }

  start(receiver: SocketReceiver): void {
    this.#receiver = receiver;
  }

  send(frame: Uint8Array<ArrayBuffer>): void {
    if (this.#ended) return;
    this.sent.push(frame);
    for (const waiter of this.#sentWaiters) if (this.sent.length >= waiter.frames) waiter.resolve();
    if (this.takesAll) return;
    this.#buffered.push(frame.length);
    this.#bufferedBytes += frame.length;
    this.peakBytes = Math.max(this.peakBytes, this.#bufferedBytes);
  }

  get bufferedBytes(): number {
    return this.#bufferedBytes;
  }

  drainedTo(bytes: number): Promise<void> {
    if (this.#ended || this.#bufferedBytes <= bytes) return Promise.resolve();
    return new Promise((resolve) => this.#waiters.push({ bytes, resolve }));
  }

  /** Resolves when so many frames have been sent. */
  whenSent(frames: number): Promise<void> {
    if (this.sent.length >= frames) return Promise.resolve();
    return new Promise((resolve) => this.#sentWaiters.push({ frames, resolve }));
  }

  /** The system takes so many frames. @returns How many there were. */
  drain(frames = Infinity): number {
    const taken = this.#buffered.splice(0, frames);
    for (const bytes of taken) this.#bufferedBytes -= bytes;
    this.#wake();
    return taken.length;
  }

  close(): void {
    this.end("closed by us");
  }

  end(reason: SocketEndReason): void {
    if (this.#ended) return;
    this.#ended = true;
    this.#wake();
    this.#receiver?.ended(reason);
    this.#gone.resolve();
  }

  /** A message comes from the other side. */
  deliver(message: Uint8Array<ArrayBuffer>): void {
    if (!this.#ended) this.#receiver?.binary(message);
  }

  #wake(): void {
    const waiters = this.#waiters;
    this.#waiters = waiters.filter(({ bytes }) => !this.#ended && this.#bufferedBytes > bytes);
    for (const waiter of waiters) if (!this.#waiters.includes(waiter)) waiter.resolve();
  }
}
