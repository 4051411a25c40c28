import { MAX_QUEUED_FRAMES, SOCKET_HIGH_WATER_BYTES } from "../limits.ts";
import type { RelaySocket } from "../socket/relay_socket.ts";

/** Who has frames to send: a stream. */
export interface FrameSource {
  /** Sends one frame, or begins to make it. @returns Whether there is another that could be begun now. */
  sendNext(): boolean;
}

/** What may be queued beyond the bounds of the streams' data, so that a flood does not keep out resets and handshakes. */
const SPARE_BYTES = 256 * 1024;

/**
 * The way of all frames of all streams to their socket. It holds no frame: it lets the streams send in turn, one frame
 * each, while fewer than {@linkcode MAX_QUEUED_FRAMES} and less than {@linkcode SOCKET_HIGH_WATER_BYTES} wait in the
 * socket or are being made. So a stream's small answer stands behind that much of another's flood, and not more.
 */
export class FrameQueue {
  readonly #socket: RelaySocket;
  /** In the order of their turns. */
  readonly #sources = new Set<FrameSource>();
  #serving = false;
  #awaitingRoom = false;
  /** Frames that are being made. */
  #announcedFrames = 0;
  #announcedBytes = 0;
  /** All bytes ever given to the socket, and what that was after each frame that may still be there. */
  #sentBytes = 0;
  #ends: number[] = [];

  constructor(socket: RelaySocket) {
    this.#socket = socket;
  }

  /** Gives `source` its turns, until it has no frame left; the first may be now. Asking twice changes nothing. */
  request(source: FrameSource): void {
    this.#sources.add(source);
    this.#serve();
  }

  /** Gives `source` no turn any more. */
  withdraw(source: FrameSource): void {
    this.#sources.delete(source);
  }

  /** Sends a frame that takes its turn. */
  send(frame: Uint8Array<ArrayBuffer>): void {
    this.#sentBytes += frame.length;
    this.#ends.push(this.#sentBytes);
    this.#socket.send(frame);
  }

  /** Sends a frame that does not wait: a reset, a handshake. @returns False: there was no room even for that. */
  offer(frame: Uint8Array<ArrayBuffer>): boolean {
    if (
      this.#socket.bufferedBytes + this.#announcedBytes >= SOCKET_HIGH_WATER_BYTES + SPARE_BYTES ||
      this.#queuedFrames() >= 2 * MAX_QUEUED_FRAMES
    ) return false;
    this.send(frame);
    return true;
  }

  /** A frame of about so many bytes is being made, and will be sent. */
  announce(bytes: number): void {
    this.#announcedFrames++;
    this.#announcedBytes += bytes;
  }

  /** An announced frame is there, or will never be. */
  retract(bytes: number): void {
    this.#announcedFrames--;
    this.#announcedBytes -= bytes;
    // Who waits for the socket is served when there is room in it; nobody else tells of room that comes free here.
    if (!this.#awaitingRoom) this.#serve();
  }

  get #hasRoom(): boolean {
    return this.#socket.bufferedBytes + this.#announcedBytes < SOCKET_HIGH_WATER_BYTES &&
      this.#queuedFrames() + this.#announcedFrames < MAX_QUEUED_FRAMES;
  }

  /** Frames that wait in the socket; a few too many, because it adds a header to each. */
  #queuedFrames(): number {
    const gone = this.#sentBytes - this.#socket.bufferedBytes;
    let count = 0;
    while (count < this.#ends.length && this.#ends[count]! <= gone) count++;
    if (count > 0) this.#ends.splice(0, count);
    return this.#ends.length;
  }

  #serve(): void {
    if (this.#serving) return;
    this.#serving = true;
    try {
      while (this.#sources.size > 0 && this.#hasRoom) {
        const [source] = this.#sources as Iterable<FrameSource> as [FrameSource];
        this.#sources.delete(source);
        if (source.sendNext()) this.#sources.add(source);
      }
    } finally {
      this.#serving = false;
    }
    // Where the socket is not what is full, `retract` goes on.
    if (this.#sources.size > 0 && !this.#awaitingRoom && this.#socket.bufferedBytes > this.#halfFull()) {
      void this.#awaitRoom();
    }
  }

  async #awaitRoom(): Promise<void> {
    this.#awaitingRoom = true;
    for (let target; this.#sources.size > 0 && this.#socket.bufferedBytes > (target = this.#halfFull());) {
      const sent = this.#sentBytes;
      await this.#socket.drainedTo(target);
      // It resolves early for one reason alone: the socket has ended.
      if (this.#sentBytes === sent && this.#socket.bufferedBytes > target) this.#sources.clear();
    }
    this.#awaitingRoom = false;
    this.#serve();
  }

  /** As far as the socket should drain before it is filled again. */
  #halfFull(): number {
    const half = this.#ends[this.#ends.length - 1 - MAX_QUEUED_FRAMES / 2] ?? 0;
    return Math.min(SOCKET_HIGH_WATER_BYTES / 2, this.#sentBytes - half);
  }
}
