/**
 * HTTP/1.1 by hand, for requests that no client would send, and WebSocket peers that do not keep to the rules. Opens
 * one TCP connection per request.
 */

export interface RawResponse {
  readonly status: number;
  /** In order, names in lower case, without `date`. */
  readonly headers: readonly (readonly [name: string, value: string])[];
  /** As long as `content-length` says; empty without one. */
  readonly body: string;
}

export interface RawTarget {
  readonly hostname: string;
  readonly port: number;
}

/** The upgrade of RFC 6455's example, whose `sec-websocket-accept` is {@linkcode EXAMPLE_ACCEPT}. */
export const UPGRADE_HEADERS = [
  "Host: x",
  "Upgrade: websocket",
  "Connection: Upgrade",
  "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==",
  "Sec-WebSocket-Version: 13",
] as const;
export const EXAMPLE_ACCEPT = "s3pPLMBiTxaQ9kYGzzhZRbK+xOo=";

export const OPCODE = { continuation: 0, text: 1, binary: 2, close: 8, ping: 9, pong: 10 } as const;

const LARGEST_HEAD_BYTES = 64 * 1024;

/** `ws://IP:PORT` → where to connect. */
export function rawTarget(url: string): RawTarget {
  const { hostname, port } = new URL(url);
  return { hostname: hostname.replace(/^\[|\]$/g, ""), port: Number(port) };
}

/** The upgrade headers without the one named, and with others behind them. */
export function upgradeHeaders(change: { without?: string; plus?: readonly string[] } = {}): string[] {
  const kept = UPGRADE_HEADERS.filter((line) => !line.toLowerCase().startsWith(`${change.without?.toLowerCase()}:`));
  return [...kept, ...change.plus ?? []];
}

/** Sends one request, a character a byte, and reads one answer. */
export async function rawRequest(
  target: RawTarget,
  requestLine: string,
  headers: readonly string[],
  body = "",
): Promise<RawResponse> {
  using connection = await RawConnection.open(target);
  return await connection.request(requestLine, headers, body);
}

/** A TCP connection that speaks HTTP first and perhaps WebSocket later. */
export class RawConnection implements Disposable {
  readonly #tcp: Deno.TcpConn;
  #buffer: Uint8Array<ArrayBuffer> = new Uint8Array();

  private constructor(tcp: Deno.TcpConn) {
    this.#tcp = tcp;
  }

  static async open(target: RawTarget): Promise<RawConnection> {
    return new RawConnection(await Deno.connect(target));
  }

  /** Connects and upgrades. */
  static async websocket(target: RawTarget, plus: readonly string[] = []): Promise<RawConnection> {
    const connection = await RawConnection.open(target);
    try {
      const { status } = await connection.request("GET / HTTP/1.1", upgradeHeaders({ plus }));
      if (status !== 101) throw new Error(`upgrade refused with ${status}`);
      return connection;
    } catch (error) {
      connection[Symbol.dispose]();
      throw error;
    }
  }

  /** Where the server sees this connection come from. */
  get localAddress(): Deno.NetAddr {
    return this.#tcp.localAddr as Deno.NetAddr;
  }

  async request(requestLine: string, headers: readonly string[], body = ""): Promise<RawResponse> {
    const text = [requestLine, ...headers, "", body].join("\r\n");
    await this.write(Uint8Array.from(text, (character) => character.charCodeAt(0)));
    return await this.#response(requestLine.startsWith("HEAD "));
  }

  async write(bytes: Uint8Array): Promise<void> {
    for (let rest = bytes; rest.length > 0;) rest = rest.subarray(await this.#tcp.write(rest));
  }

  /** One WebSocket frame, masked with zeros: that satisfies the rules and spares the work. */
  async sendFrame(opcode: number, payload: Uint8Array | string, options: { fin?: boolean } = {}): Promise<void> {
    const bytes = typeof payload === "string" ? new TextEncoder().encode(payload) : payload;
    await this.write(frameHeader(opcode, bytes.length, options.fin ?? true));
    await this.write(bytes);
  }

  /** The next frame of the server; null at the end of the stream. */
  async readFrame(): Promise<{ opcode: number; payload: Uint8Array } | null> {
    if (!await this.#has(2)) return null;
    const short = this.#buffer[1]! & 0x7f;
    const header = short < 126 ? 2 : short === 126 ? 4 : 10;
    if (!await this.#has(header)) return null;
    let length = short < 126 ? short : 0;
    for (let i = 2; i < header; i++) length = length * 256 + this.#buffer[i]!;
    if (!await this.#has(header + length)) return null;
    const opcode = this.#buffer[0]! & 0x0f;
    return { opcode, payload: this.#take(header + length).subarray(header) };
  }

  /** Reads to the end of the stream and returns how many bytes came. */
  async readToEnd(): Promise<number> {
    let count = this.#buffer.length;
    const chunk = new Uint8Array(64 * 1024);
    for (let read; (read = await this.#tcp.read(chunk)) !== null;) count += read;
    return count;
  }

  [Symbol.dispose](): void {
    try {
      this.#tcp.close();
    } catch (error) {
      if (!(error instanceof Deno.errors.BadResource)) throw error;
    }
  }

  async #response(head: boolean): Promise<RawResponse> {
    let text = "";
    for (let wanted = 1, end = -1; end < 0; wanted = this.#buffer.length + 1) {
      if (wanted > LARGEST_HEAD_BYTES || !await this.#has(wanted)) throw new Error(`no whole head in: ${text}`);
      text = String.fromCharCode(...this.#buffer);
      end = text.indexOf("\r\n\r\n");
      if (end >= 0) {
        text = text.slice(0, end);
        this.#take(end + 4);
      }
    }
    const [statusLine, ...lines] = text.split("\r\n");
    const headers = lines.map((line): [string, string] => {
      const colon = line.indexOf(":");
      return [line.slice(0, colon).toLowerCase(), line.slice(colon + 1).trim()];
    }).filter(([name]) => name !== "date");
    const length = head ? 0 : Number(headers.find(([name]) => name === "content-length")?.[1] ?? 0);
    if (!await this.#has(length)) throw new Error("the body ended early");
    return { status: Number(statusLine!.split(" ")[1]), headers, body: String.fromCharCode(...this.#take(length)) };
  }

  /** Waits until `count` bytes are there; false: the stream ended before. */
  async #has(count: number): Promise<boolean> {
    while (this.#buffer.length < count) {
      const chunk = new Uint8Array(64 * 1024);
      const read = await this.#tcp.read(chunk);
      if (read === null) return false;
      const grown = new Uint8Array(this.#buffer.length + read);
      grown.set(this.#buffer);
      grown.set(chunk.subarray(0, read), this.#buffer.length);
      this.#buffer = grown;
    }
    return true;
  }

  #take(count: number): Uint8Array<ArrayBuffer> {
    const taken = this.#buffer.slice(0, count);
    this.#buffer = this.#buffer.slice(count);
    return taken;
  }
}

/** The header of a client's frame, with a mask of zeros. */
export function frameHeader(opcode: number, length: number, fin = true): Uint8Array<ArrayBuffer> {
  const header = new Uint8Array((length < 126 ? 2 : length < 65_536 ? 4 : 10) + 4);
  const view = new DataView(header.buffer);
  header[0] = (fin ? 0x80 : 0) | opcode;
  header[1] = 0x80 | (length < 126 ? length : length < 65_536 ? 126 : 127);
  if (header.length === 8) view.setUint16(2, length);
  if (header.length === 14) view.setBigUint64(2, BigInt(length));
  return header;
}
