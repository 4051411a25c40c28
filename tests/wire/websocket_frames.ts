/** RFC 6455 frames, either way, without any of the protocol's rules: tests break them on purpose. */

export const OPCODE = { continuation: 0, text: 1, binary: 2, close: 8, ping: 9, pong: 10 } as const;

export interface Frame {
  readonly opcode: number;
  readonly fin: boolean;
  readonly payload: Uint8Array<ArrayBuffer>;
}

export interface FrameOptions {
  /** The last fragment of its message; true unless said otherwise. */
  readonly fin?: boolean;
  /** Masked, as a client must; true unless said otherwise. */
  readonly masked?: boolean;
}

/** The bytes of one frame as a client sends it. */
export function encodeFrame(
  opcode: number,
  payload: Uint8Array,
  { fin = true, masked = true }: FrameOptions = {},
): Uint8Array<ArrayBuffer> {
  const { length } = payload;
  const lengthBytes = length < 126 ? 0 : length < 65_536 ? 2 : 8;
  const header = 2 + lengthBytes + (masked ? 4 : 0);
  const frame = new Uint8Array(header + length);
  const view = new DataView(frame.buffer);
  frame[0] = (fin ? 0x80 : 0) | opcode;
  frame[1] = (masked ? 0x80 : 0) | (lengthBytes === 0 ? length : lengthBytes === 2 ? 126 : 127);
  if (lengthBytes === 2) view.setUint16(2, length);
  if (lengthBytes === 8) view.setBigUint64(2, BigInt(length));
  frame.set(payload, header);
  if (masked) {
    const mask = crypto.getRandomValues(new Uint8Array(4));
    frame.set(mask, header - 4);
    maskInPlace(frame.subarray(header), mask);
  }
  return frame;
}

function maskInPlace(bytes: Uint8Array, mask: Uint8Array): void {
  for (let i = 0; i < bytes.length; i++) bytes[i]! ^= mask[i & 3]!;
}

/** Cuts a stream of bytes from a server into frames. */
export class FrameDecoder {
  #pending = new Uint8Array(0);
  #partial: { opcode: number; fin: boolean; payload: Uint8Array<ArrayBuffer>; filled: number } | null = null;

  /** Takes the next bytes; gives the frames that they complete. @throws If the server masks a frame. */
  push(bytes: Uint8Array): Frame[] {
    const frames: Frame[] = [];
    let rest = bytes;
    while (true) {
      if (this.#partial === null) {
        rest = concat(this.#pending, rest);
        const header = readHeader(rest);
        if (header === null) break;
        rest = rest.subarray(header.size);
        this.#pending = new Uint8Array(0);
        this.#partial = { ...header, payload: new Uint8Array(header.length), filled: 0 };
      }
      const { opcode, fin, payload, filled } = this.#partial;
      const taken = rest.subarray(0, payload.length - filled);
      payload.set(taken, filled);
      this.#partial.filled += taken.length;
      rest = rest.subarray(taken.length);
      if (this.#partial.filled < payload.length) return frames;
      this.#partial = null;
      frames.push({ opcode, fin, payload });
    }
    this.#pending = rest.slice();
    return frames;
  }
}

function readHeader(bytes: Uint8Array): { opcode: number; fin: boolean; length: number; size: number } | null {
  if (bytes.length < 2) return null;
  const [first, second] = bytes as unknown as [number, number];
  if ((second & 0x80) !== 0) throw new Error("the server masked a frame");
  const size = 2 + (second === 126 ? 2 : second === 127 ? 8 : 0);
  if (bytes.length < size) return null;
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  const length = second === 126 ? view.getUint16(2) : second === 127 ? Number(view.getBigUint64(2)) : second;
  return { opcode: first & 0x0f, fin: (first & 0x80) !== 0, length, size };
}

function concat(a: Uint8Array, b: Uint8Array): Uint8Array {
  if (a.length === 0) return b;
  const both = new Uint8Array(a.length + b.length);
  both.set(a);
  both.set(b, a.length);
  return both;
}
