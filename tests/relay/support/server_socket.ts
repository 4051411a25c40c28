/**
 * The server's end of one WebSocket, by hand: it can stop to read, leave pings unanswered, end without a close frame and
 * tell how far its peer is behind. None of that can be had of the platform's.
 */

/** Room for the longest header, and a multiple of four, so that unmasking goes by words. */
const HEADER_ROOM = 12;
const READ_BYTES = 256 * 1024;
/** Frames are put together to writes of about this size. */
const WRITE_BYTES = 256 * 1024;
const OPCODE = { continuation: 0, text: 1, binary: 2, close: 8, ping: 9, pong: 10 } as const;

export interface SocketListener {
  /** One whole binary message. What is returned is awaited before more is read. */
  binary(message: Uint8Array<ArrayBuffer>): void | Promise<void>;
  text(message: string): void;
  /** Nothing comes or goes any more. */
  ended(): void;
}

export class ServerSocket {
  /** False: pings are not answered. */
  answersPings = true;
  /** True: what comes is thrown away and nothing is sent, while the connection stays: half open. */
  silent = false;
  /** Bytes a second that are written at most. */
  bytesPerSecond = Infinity;
  pings = 0;
  pongs = 0;
  /** Status of the peer's close frame; null: it sent none. */
  closeCode: number | null = null;
  readonly ended: Promise<void>;

  readonly #tcp: Deno.TcpConn;
  readonly #listener: SocketListener;
  readonly #queue: Uint8Array<ArrayBuffer>[] = [];
  #queuedBytes = 0;
  #writing = false;
  #open = true;
  #fragments: Uint8Array<ArrayBuffer>[] = [];
  #fragmentOpcode: number = OPCODE.binary;
  #readable: PromiseWithResolvers<void> | null = null;
  #drained: PromiseWithResolvers<void> | null = null;
  #lowWater = 0;

  /** @param early What came behind the upgrade's head. */
  constructor(tcp: Deno.TcpConn, early: Uint8Array<ArrayBuffer>, listener: SocketListener) {
    [this.#tcp, this.#listener] = [tcp, listener];
    tcp.setNoDelay();
    this.ended = this.#read(early);
  }

  /** False once either end has closed it. */
  get open(): boolean {
    return this.#open;
  }

  /** Bytes that the peer has not taken yet. */
  get backlogBytes(): number {
    return this.#queuedBytes;
  }

  /** Resolves when the backlog is at most `bytes`, or the socket has ended. One may wait at a time. */
  drainedTo(bytes: number): Promise<void> {
    if (!this.#open || this.#queuedBytes <= bytes) return Promise.resolve();
    this.#lowWater = bytes;
    this.#drained ??= Promise.withResolvers();
    return this.#drained.promise;
  }

  /** Sends one binary message; the bytes must not change afterwards. */
  send(message: Uint8Array<ArrayBuffer>): void {
    this.#sendFrame(OPCODE.binary, message);
  }

  sendText(message: string): void {
    this.#sendFrame(OPCODE.text, new TextEncoder().encode(message));
  }

  /** One message in several frames. */
  sendFragments(message: Uint8Array<ArrayBuffer>, ...cuts: number[]): void {
    const edges = [0, ...cuts, message.length];
    for (let index = 1; index < edges.length; index++) {
      const opcode = index === 1 ? OPCODE.binary : OPCODE.continuation;
      this.#sendFrame(opcode, message.slice(edges[index - 1], edges[index]), index === edges.length - 1);
    }
  }

  ping(): void {
    this.#sendFrame(OPCODE.ping, new Uint8Array(0));
  }

  /** A close frame; the socket ends when the peer has closed its end. */
  close(code = 1000): void {
    this.#sendFrame(OPCODE.close, Uint8Array.of(code >> 8, code & 0xff));
  }

  /** The end without a close frame. */
  cut(): void {
    if (!this.#open) return;
    this.#open = false;
    this.#tcp.close();
    this.#readable?.resolve();
    this.#drained?.resolve();
  }

  /** A peer that reads no more: what comes stays with the system, and then with the other side. */
  stopReading(): void {
    this.#readable ??= Promise.withResolvers();
  }

  readAgain(): void {
    this.#readable?.resolve();
    this.#readable = null;
  }

  async #read(early: Uint8Array<ArrayBuffer>): Promise<void> {
    const buffer = new Uint8Array(READ_BYTES);
    let rest: Uint8Array<ArrayBuffer> = early;
    try {
      while (this.#open) {
        rest = await this.#takeFrames(rest);
        const count = await this.#tcp.read(buffer);
        if (count === null) break;
        rest = rest.length === 0 ? buffer.slice(0, count) : concat(rest, buffer.subarray(0, count));
        while (this.#readable !== null && this.#open) await this.#readable.promise;
      }
    } catch (error) {
      if (!isConnectionEnd(error)) throw error;
    } finally {
      this.cut();
      this.#listener.ended();
    }
  }

  /** Handles the whole frames; gives the rest. */
  async #takeFrames(bytes: Uint8Array<ArrayBuffer>): Promise<Uint8Array<ArrayBuffer>> {
    while (this.#open) {
      const frame = maskedFrame(bytes);
      if (frame === null) break;
      bytes = bytes.subarray(frame.size);
      const taken = this.#takeFrame(frame);
      if (taken !== undefined) await taken;
    }
    return bytes;
  }

  #takeFrame({ opcode, fin, payload }: MaskedFrame): void | Promise<void> {
    if (this.silent) return;
    if (opcode === OPCODE.ping) {
      this.pings++;
      if (this.answersPings) this.#sendFrame(OPCODE.pong, payload);
    } else if (opcode === OPCODE.pong) this.pongs++;
    else if (opcode === OPCODE.close) {
      this.closeCode = payload.length < 2 ? 1005 : payload[0]! * 256 + payload[1]!;
      this.#sendFrame(OPCODE.close, payload.slice(0, 2));
      return this.drainedTo(0).then(() => this.cut());
    } else {
      if (opcode !== OPCODE.continuation) this.#fragmentOpcode = opcode;
      if (!fin || this.#fragments.length > 0) this.#fragments.push(payload);
      if (!fin) return;
      const message = this.#fragments.length === 0 ? payload : this.#fragments.reduce(concat);
      this.#fragments = [];
      if (this.#fragmentOpcode === OPCODE.binary) return this.#listener.binary(message);
      this.#listener.text(new TextDecoder().decode(message));
    }
  }

  #sendFrame(opcode: number, payload: Uint8Array<ArrayBuffer>, fin = true): void {
    if (!this.#open || this.silent) return;
    const frame = plainFrame(opcode, payload, fin);
    this.#queue.push(frame);
    this.#queuedBytes += frame.length;
    if (!this.#writing) void this.#write();
  }

  async #write(): Promise<void> {
    this.#writing = true;
    try {
      await null; // what is sent in the same turn leaves in one write
      for (let bytes = this.#next(); bytes !== null && this.#open; bytes = this.#next()) {
        const { length } = bytes;
        for (let rest = bytes; rest.length > 0;) rest = rest.subarray(await this.#tcp.write(rest));
        this.#queuedBytes -= length;
        if (this.#queuedBytes <= this.#lowWater) {
          this.#drained?.resolve();
          this.#drained = null;
        }
        if (this.bytesPerSecond !== Infinity) await this.#pause(length / this.bytesPerSecond * 1000);
      }
    } catch (error) {
      if (!isConnectionEnd(error)) throw error;
      this.cut();
    } finally {
      this.#writing = false;
    }
  }

  /** As many frames as make one write. */
  #next(): Uint8Array<ArrayBuffer> | null {
    const limit = Math.min(WRITE_BYTES, this.bytesPerSecond);
    let [count, bytes] = [0, 0];
    while (count < this.#queue.length && (count === 0 || bytes + this.#queue[count]!.length <= limit)) {
      bytes += this.#queue[count++]!.length;
    }
    const frames = this.#queue.splice(0, count);
    if (frames.length < 2) return frames[0] ?? null;
    const all = new Uint8Array(bytes);
    let at = 0;
    for (const frame of frames) {
      all.set(frame, at);
      at += frame.length;
    }
    return all;
  }

  /** Ends early with the socket. */
  async #pause(ms: number): Promise<void> {
    const { promise, resolve } = Promise.withResolvers<void>();
    const timer = setTimeout(resolve, ms);
    await Promise.race([promise, this.ended]);
    clearTimeout(timer);
  }
}

interface MaskedFrame {
  readonly opcode: number;
  readonly fin: boolean;
  /** In a buffer of its own, with room for a header in front of it. */
  readonly payload: Uint8Array<ArrayBuffer>;
  /** Of the whole frame. */
  readonly size: number;
}

function maskedFrame(bytes: Uint8Array<ArrayBuffer>): MaskedFrame | null {
  if (bytes.length < 6) return null;
  const short = bytes[1]! & 0x7f;
  const header = (short < 126 ? 2 : short === 126 ? 4 : 10) + 4;
  if (bytes.length < header) return null;
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.length);
  const length = short < 126 ? short : short === 126 ? view.getUint16(2) : Number(view.getBigUint64(2));
  if (bytes.length < header + length) return null;
  const buffer = new ArrayBuffer(HEADER_ROOM + Math.ceil(length / 4) * 4);
  const payload = new Uint8Array(buffer, HEADER_ROOM, length);
  payload.set(bytes.subarray(header, header + length));
  const mask = new Uint32Array(bytes.slice(header - 4, header).buffer)[0]!;
  const words = new Uint32Array(buffer, HEADER_ROOM);
  for (let index = 0; index < words.length; index++) words[index]! ^= mask;
  return { opcode: bytes[0]! & 0x0f, fin: (bytes[0]! & 0x80) !== 0, payload, size: header + length };
}

/** A frame as a server sends it; without a copy where the payload came in a frame. */
function plainFrame(opcode: number, payload: Uint8Array<ArrayBuffer>, fin: boolean): Uint8Array<ArrayBuffer> {
  const { length } = payload;
  const header = length < 126 ? 2 : length < 65_536 ? 4 : 10;
  let frame: Uint8Array<ArrayBuffer>;
  if (payload.byteOffset === HEADER_ROOM && payload.buffer.byteLength - length < HEADER_ROOM + 4) {
    frame = new Uint8Array(payload.buffer, HEADER_ROOM - header, header + length);
  } else {
    frame = new Uint8Array(header + length);
    frame.set(payload, header);
  }
  const view = new DataView(frame.buffer, frame.byteOffset, frame.length);
  frame[0] = (fin ? 0x80 : 0) | opcode;
  frame[1] = header === 2 ? length : header === 4 ? 126 : 127;
  if (header === 4) view.setUint16(2, length);
  if (header === 10) view.setBigUint64(2, BigInt(length));
  return frame;
}

export function isConnectionEnd(error: unknown): boolean {
  const { BadResource, BrokenPipe, ConnectionAborted, ConnectionReset, Interrupted, NotConnected } = Deno.errors;
  return [BadResource, BrokenPipe, ConnectionAborted, ConnectionReset, Interrupted, NotConnected]
    .some((kind) => error instanceof kind);
}

function concat(a: Uint8Array<ArrayBuffer>, b: Uint8Array<ArrayBuffer>): Uint8Array<ArrayBuffer> {
  const both = new Uint8Array(a.length + b.length);
  both.set(a);
  both.set(b, a.length);
  return both;
}
