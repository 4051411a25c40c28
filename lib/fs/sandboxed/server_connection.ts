import { EAGAIN, EINTR } from "../../linux/errno.ts";
import { close } from "../../linux/libc.ts";
import type { Poller, Watch } from "../../linux/poller.ts";
import { endSending, peek, receive, send } from "../../linux/socket_calls.ts";
import { bodyLength, encodeMessage, HEADER_BYTES, type Reply, type Request } from "./messages.ts";
import { decodeReply, MalformedReply } from "./reply.ts";

type Bytes = Uint8Array<ArrayBuffer>;

/** Bytes taken in before others get their turn. */
const TURN_BYTES = 256 * 1024;

export interface ConnectionEvents {
  /** @param fd What came along; the receiver's to close. */
  reply(reply: Reply, fd: number | null): void;
  /** The other side has ended. Nothing else follows. */
  ended(): void;
  /** It says what it cannot say. Nothing else follows. */
  malformed(): void;
}

/** The server's end of the connection to a helper: nothing waits but for the poller. */
export class ServerConnection implements Disposable {
  readonly #fd: number;
  readonly #watch: Watch;
  readonly #events: ConnectionEvents;
  #outgoing: Bytes[] = [];
  #target: Bytes = new Uint8Array(new ArrayBuffer(HEADER_BYTES));
  #isBody = false;
  #filled = 0;
  /** What came with the message that is being received. */
  #handed: number | null = null;
  #hasEnded = false;

  /** @param fd Is taken over. */
  constructor(fd: number, poller: Poller, events: ConnectionEvents) {
    this.#fd = fd;
    this.#events = events;
    this.#watch = poller.watch(fd, { readable: () => this.#read(), writable: () => this.#write() });
  }

  /** Whether replies are looked for. Without, nothing waits, and an end goes unnoticed. */
  set listening(on: boolean) {
    if (!this.#hasEnded) this.#watch.reading = on;
  }

  /** Whether the other side is still there, and silent. */
  get isIdle(): boolean {
    return !this.#hasEnded && peek(this.#fd) === -EAGAIN;
  }

  /** @throws {RangeError} If the request is too long. */
  send(request: Request): void {
    const message = encodeMessage(request);
    if (this.#hasEnded) return;
    this.#outgoing.push(message);
    if (this.#outgoing.length === 1) this.#write();
  }

  /** Tells the helper to end when it has done what it was asked for. */
  endSending(): void {
    if (!this.#hasEnded) endSending(this.#fd);
  }

  [Symbol.dispose](): void {
    this.#end();
    this.#watch.close();
  }

  #write(): void {
    for (let first = this.#outgoing[0]; first !== undefined; first = this.#outgoing[0]) {
      const count = send(this.#fd, first, null, { now: true });
      if (count === -EINTR) continue;
      if (count === -EAGAIN) break;
      if (count < 0) {
        // Why it has ended turns out on the other way, where its last words may still wait.
        this.#outgoing = [];
        break;
      }
      if (count === first.length) this.#outgoing.shift();
      else this.#outgoing[0] = first.subarray(count);
    }
    this.#watch.writing = this.#outgoing.length > 0;
  }

  #read(): void {
    for (let taken = 0; taken < TURN_BYTES && !this.#hasEnded && this.#watch.reading;) {
      const room = this.#target.subarray(this.#filled, this.#filled + TURN_BYTES);
      const received = receive(this.#fd, room, { now: true });
      if (received === -EINTR) continue;
      if (received === -EAGAIN) return;
      if (typeof received === "number" || received.count === 0) {
        this.#end();
        return this.#events.ended();
      }
      if (received.fd !== null) this.#takeHanded(received.fd);
      taken += received.count;
      this.#filled += received.count;
      if (this.#filled === this.#target.length) this.#whole();
    }
  }

  #takeHanded(fd: number): void {
    if (this.#handed !== null) close(this.#handed);
    this.#handed = fd;
  }

  #whole(): void {
    const reply = this.#decoded(this.#target);
    if (reply === undefined) return;
    const handed = this.#handed;
    this.#handed = null;
    this.#events.reply(reply, handed);
  }

  /** The reply whose last bytes have come, or undefined. */
  #decoded(bytes: Bytes): Reply | undefined {
    try {
      if (this.#isBody) {
        this.#expect(false, HEADER_BYTES);
        return decodeReply(bytes);
      }
      this.#expect(true, bodyLength(bytes));
    } catch (error) {
      if (!(error instanceof RangeError || error instanceof MalformedReply)) throw error;
      this.#end();
      this.#events.malformed();
    }
    return undefined;
  }

  #expect(isBody: boolean, length: number): void {
    this.#isBody = isBody;
    this.#target = new Uint8Array(new ArrayBuffer(length));
    this.#filled = 0;
  }

  #end(): void {
    if (this.#hasEnded) return;
    this.#hasEnded = true;
    this.#watch.stop();
    if (this.#handed !== null) close(this.#handed);
    this.#handed = null;
  }
}
