/** The other side of a socket, byte by byte: frames that no library would send, and none where one would. */

import { closeTcp, RawWebSocketServer, type Upgrade } from "../client/support/raw_websocket_server.ts";

/** One accepted socket. */
export class RawPeer {
  readonly upgrade: Upgrade;
  #buffer: Uint8Array<ArrayBuffer> = new Uint8Array();

  constructor(upgrade: Upgrade) {
    this.upgrade = upgrade;
  }

  async write(...parts: Uint8Array[]): Promise<void> {
    for (const part of parts) {
      for (let rest = part; rest.length > 0;) rest = rest.subarray(await this.upgrade.tcp.write(rest));
    }
  }

  /** The next frame, unmasked; null: the connection has ended. */
  async frame(): Promise<{ opcode: number; fin: boolean; payload: Uint8Array<ArrayBuffer> } | null> {
    if (!await this.#has(2)) return null;
    const short = this.#buffer[1]! & 0x7f;
    const header = (short < 126 ? 2 : short === 126 ? 4 : 10) + 4;
    if (!await this.#has(header)) return null;
    const view = new DataView(this.#buffer.buffer, this.#buffer.byteOffset);
    const length = short < 126 ? short : short === 126 ? view.getUint16(2) : Number(view.getBigUint64(2));
    if (!await this.#has(header + length)) return null;
    const mask = this.#buffer.slice(header - 4, header);
    const payload = this.#buffer.slice(header, header + length).map((byte, index) => byte ^ mask[index % 4]!);
    const first = this.#buffer[0]!;
    this.#buffer = this.#buffer.slice(header + length);
    return { opcode: first & 15, fin: first >= 128, payload };
  }

  /** Opcodes of what comes until the connection has ended. */
  async rest(): Promise<number[]> {
    const opcodes = [];
    for (let frame; (frame = await this.frame()) !== null;) opcodes.push(frame.opcode);
    return opcodes;
  }

  close(): void {
    closeTcp(this.upgrade.tcp);
  }

  async #has(count: number): Promise<boolean> {
    const chunk = new Uint8Array(64 * 1024);
    while (this.#buffer.length < count) {
      const read = await this.upgrade.tcp.read(chunk).catch(() => null);
      if (read === null) return false;
      const grown = new Uint8Array(this.#buffer.length + read);
      grown.set(this.#buffer);
      grown.set(chunk.subarray(0, read), this.#buffer.length);
      this.#buffer = grown;
    }
    return true;
  }
}

/** A server that accepts every upgrade and gives the socket to the test. */
export function rawRendezvous(serve: (peer: RawPeer) => Promise<void>, secure?: Deno.TlsListener): RawWebSocketServer {
  return new RawWebSocketServer(async (upgrade) => {
    await upgrade.accept();
    await serve(new RawPeer(upgrade));
  }, secure);
}

export const OPCODE = { continuation: 0, text: 1, binary: 2, close: 8, ping: 9, pong: 10 } as const;

/** A frame of a server. @param first What its first byte is besides the opcode: by default FIN alone. */
export function serverFrame(
  opcode: number,
  payload: Uint8Array | string | number,
  { first = 0x80, masked = false }: { first?: number; masked?: boolean } = {},
): Uint8Array<ArrayBuffer> {
  const body = typeof payload === "number"
    ? new Uint8Array(payload)
    : typeof payload === "string"
    ? new TextEncoder().encode(payload)
    : payload;
  const header = body.length < 126 ? 2 : body.length < 65_536 ? 4 : 10;
  const frame = new Uint8Array(header + (masked ? 4 : 0) + body.length);
  frame[0] = first | opcode;
  frame[1] = (masked ? 0x80 : 0) | (header === 2 ? body.length : header === 4 ? 126 : 127);
  const view = new DataView(frame.buffer);
  if (header === 4) view.setUint16(2, body.length);
  if (header === 10) view.setBigUint64(2, BigInt(body.length));
  frame.set(body, frame.length - body.length);
  return frame;
}
