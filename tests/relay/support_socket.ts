import type { RelaySocket, SocketEndReason, SocketReceiver } from "../../lib/relay/socket/relay_socket.ts";
import { decodeFrame, type Frame, type InvalidFrame } from "../../lib/relay/stream/frame.ts";

/** A socket to a rendezvous that exists in a test only: the test is the rendezvous. */
export class FakeSocket implements RelaySocket {
  /** What was sent, as frames. */
  readonly sent: (Frame | InvalidFrame)[] = [];
  /** Set by a test that wants a socket that takes nothing. */
  bufferedBytes = 0;
  /** How our side has closed it. */
  closed: "politely" | "at once" | undefined;
  readonly gone: Promise<void>;
  #receiver: SocketReceiver | undefined;
  #ended = false;
  #gone!: () => void;
  #waiters: { readonly count: number; readonly resolve: () => void }[] = [];

  constructor() {
    this.gone = new Promise((resolve) => this.#gone = resolve);
  }

  start(receiver: SocketReceiver): void {
    this.#receiver = receiver;
  }

  send(frame: Uint8Array<ArrayBuffer>): void {
    if (this.#ended) return;
    this.sent.push(decodeFrame(frame)!);
    this.#look();
  }

  drainedTo(bytes: number): Promise<void> {
    return this.bufferedBytes <= bytes ? Promise.resolve() : this.gone;
  }

  close(how: "politely" | "at once"): void {
    this.closed ??= how;
    this.end("closed by us");
  }

  /** The rendezvous sends one binary message. */
  deliver(message: Uint8Array<ArrayBuffer>): void {
    this.#receiver!.binary(message);
  }

  deliverText(): void {
    this.#receiver!.text();
  }

  end(reason: SocketEndReason): void {
    if (this.#ended) return;
    this.#ended = true;
    this.#receiver?.ended(reason);
    this.#gone();
  }

  /** The first `count` frames that were sent, once there are so many. */
  async frames(count: number): Promise<(Frame | InvalidFrame)[]> {
    if (this.sent.length < count) await new Promise<void>((resolve) => this.#waiters.push({ count, resolve }));
    return this.sent.slice(0, count);
  }

  #look(): void {
    const ready = this.#waiters.filter(({ count }) => this.sent.length >= count);
    this.#waiters = this.#waiters.filter((waiter) => !ready.includes(waiter));
    for (const { resolve } of ready) resolve();
  }
}
