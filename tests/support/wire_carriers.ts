/**
 * What is below the wire client: messages as lines of a child's stdin and stdout, and WebSocket frames made by hand over
 * TCP, because the platform's client can neither stop reading nor end in the middle of a frame.
 */

/** How a conversation ended: `code` is the one of the server's close frame, if it sent one. */
export interface End {
  readonly code: number | null;
  readonly reason: string;
}

/** Whole messages in, bytes out. Ending it makes what is pending fail. */
export interface Carrier {
  /** The next messages, in order, and the end once it has come. */
  receive(): Promise<{ messages: string[]; end: End | null }>;
  /** The bytes of one message, in pieces. */
  encode(payload: Uint8Array): Uint8Array[];
  write(bytes: Uint8Array): Promise<unknown>;
  /** Tells the other side that nothing more will come, and goes on listening. */
  endInput(): Promise<unknown>;
  end(): void;
}

export const OPCODE = { text: 1, binary: 2, close: 8, ping: 9, pong: 10 } as const;
const INITIAL_BUFFER_BYTES = 1024 * 1024;
const END_OF_STREAM: End = { code: null, reason: "end of stream" };
const encoder = new TextEncoder();
const decoder = new TextDecoder();

/** One message per line. */
export class LineCarrier implements Carrier {
  readonly #reader: ReadableStreamDefaultReader<Uint8Array>;
  readonly #writer: WritableStreamDefaultWriter<Uint8Array<ArrayBuffer>>;
  readonly #decoder = new TextDecoder();
  /** The beginning of a line whose end has not come yet. */
  #begun: string[] = [];

  constructor(child: Deno.ChildProcess) {
    [this.#reader, this.#writer] = [child.stdout.getReader(), child.stdin.getWriter()];
  }

  async receive(): Promise<{ messages: string[]; end: End | null }> {
    const { value, done } = await this.#reader.read();
    if (done) return { messages: [], end: END_OF_STREAM };
    const lines = this.#decoder.decode(value, { stream: true }).split("\n");
    const begun = lines.pop()!;
    if (lines.length > 0) lines[0] = this.#begun.splice(0).join("") + lines[0];
    this.#begun.push(begun);
    return { messages: lines, end: null };
  }

  encode(payload: Uint8Array): Uint8Array[] {
    return [payload, new Uint8Array([10])];
  }

  write(bytes: Uint8Array): Promise<void> {
    return this.#writer.write(bytes as Uint8Array<ArrayBuffer>);
  }

  endInput(): Promise<void> {
    return this.#writer.close();
  }

  end(): void {
    this.#writer.abort().catch(ignoreAfterEnd);
    this.#reader.cancel().catch(ignoreAfterEnd);
  }
}

export class WebSocketCarrier implements Carrier {
  #buffer = new Uint8Array(INITIAL_BUFFER_BYTES);
  #from = 0;
  #to: number;

  /** @param early What came together with the answer to the upgrade. */
  private constructor(readonly tcp: Deno.TcpConn, early: Uint8Array) {
    this.#buffer.set(early);
    this.#to = early.length;
  }

  /** @throws {Error} With the status line, if the server refuses the upgrade. */
  static async connect(url: string, headers: Readonly<Record<string, string>>): Promise<WebSocketCarrier> {
    const { hostname, port } = new URL(url);
    const tcp = await Deno.connect({ hostname: hostname.replace(/^\[|\]$/g, ""), port: Number(port) });
    try {
      tcp.setNoDelay(true);
      return new WebSocketCarrier(tcp, await upgrade(tcp, `${hostname}:${port}`, headers));
    } catch (error) {
      tcp.close();
      throw error;
    }
  }

  async receive(): Promise<{ messages: string[]; end: End | null }> {
    const messages: string[] = [];
    for (;;) {
      const unit = this.#take();
      if (unit === null && messages.length > 0) return { messages, end: null };
      if (unit === null && !await this.#fill()) return { messages, end: END_OF_STREAM };
      if (unit?.opcode === OPCODE.text) messages.push(decoder.decode(unit.payload));
      else if (unit?.opcode === OPCODE.ping) await this.write(frame(OPCODE.pong, unit.payload)[0]!);
      else if (unit?.opcode === OPCODE.close) return { messages, end: closeFrame(unit.payload) };
      else if (unit !== null && unit.opcode !== OPCODE.pong) throw new Error(`unexpected opcode ${unit.opcode}`);
    }
  }

  encode(payload: Uint8Array): Uint8Array[] {
    return frame(OPCODE.text, payload);
  }

  async write(bytes: Uint8Array): Promise<void> {
    await writeAll(this.tcp, bytes);
  }

  endInput(): Promise<void> {
    return this.tcp.closeWrite();
  }

  end(): void {
    this.tcp.close();
  }

  /** Takes one frame off the front of the buffer; null: it is not complete yet. */
  #take(): { opcode: number; payload: Uint8Array } | null {
    const bytes = this.#buffer.subarray(this.#from, this.#to);
    if (bytes.length < 2) return null;
    if ((bytes[0]! & 0xf0) !== 0x80) throw new Error("a fragmented or extended WebSocket frame");
    const short = bytes[1]!;
    const header = short < 126 ? 2 : short === 126 ? 4 : 10;
    if (bytes.length < header) return null;
    let length = short < 126 ? short : 0;
    for (let i = 2; i < header; i++) length = length * 256 + bytes[i]!;
    if (bytes.length < header + length) return null;
    this.#from += header + length;
    return { opcode: bytes[0]! & 0x0f, payload: bytes.subarray(header, header + length) };
  }

  /** Reads once; false at the end of the stream. */
  async #fill(): Promise<boolean> {
    if (this.#from === this.#to) this.#from = this.#to = 0;
    if (this.#buffer.length - this.#to < this.#buffer.length / 4) this.#makeRoom();
    const count = await this.tcp.read(this.#buffer.subarray(this.#to));
    this.#to += count ?? 0;
    return count !== null;
  }

  #makeRoom(): void {
    const held = this.#buffer.subarray(this.#from, this.#to);
    const target = held.length > this.#buffer.length / 2 ? new Uint8Array(this.#buffer.length * 2) : this.#buffer;
    target.set(held);
    [this.#buffer, this.#from, this.#to] = [target, 0, held.length];
  }
}

function closeFrame(payload: Uint8Array): End {
  const code = payload.length >= 2 ? payload[0]! * 256 + payload[1]! : null;
  return { code, reason: `close frame: ${decoder.decode(payload.subarray(2))}` };
}

/**
 * One client frame. The mask key is zero: it satisfies the protocol and spares the work of masking.
 *
 * @param announced The length that the header tells, if it is not the payload's.
 */
export function frame(opcode: number, payload: Uint8Array, announced = payload.length): [Uint8Array, ...Uint8Array[]] {
  const header = new Uint8Array((announced < 126 ? 2 : announced < 65_536 ? 4 : 10) + 4);
  const view = new DataView(header.buffer);
  header[0] = 0x80 | opcode;
  header[1] = 0x80 | (announced < 126 ? announced : announced < 65_536 ? 126 : 127);
  if (header.length === 8) view.setUint16(2, announced);
  if (header.length === 14) view.setBigUint64(2, BigInt(announced));
  if (payload.length > INITIAL_BUFFER_BYTES) return [header, payload];
  const whole = new Uint8Array(header.length + payload.length);
  whole.set(header);
  whole.set(payload, header.length);
  return [whole];
}

/** Asks for the upgrade and returns what came after the answer's head. */
async function upgrade(
  tcp: Deno.TcpConn,
  host: string,
  headers: Readonly<Record<string, string>>,
): Promise<Uint8Array> {
  const extra = Object.entries(headers).map(([name, value]) => `${name}: ${value}\r\n`).join("");
  const key = crypto.getRandomValues(new Uint8Array(16)).toBase64();
  const request = `GET / HTTP/1.1\r\nHost: ${host}\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n` +
    `Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: ${key}\r\n${extra}\r\n`;
  await writeAll(tcp, encoder.encode(request));
  const head = new Uint8Array(16_384);
  let length = 0;
  for (;;) {
    const count = await tcp.read(head.subarray(length));
    if (count === null) throw new Error("the server ended the connection during the upgrade");
    length += count;
    const text = decoder.decode(head.subarray(0, length));
    const end = text.indexOf("\r\n\r\n");
    if (end < 0) continue;
    if (!text.startsWith("HTTP/1.1 101 ")) throw new Error(`upgrade refused: ${text.slice(0, text.indexOf("\r\n"))}`);
    return head.slice(end + 4, length);
  }
}

async function writeAll(tcp: Deno.TcpConn, bytes: Uint8Array): Promise<void> {
  for (let rest = bytes; rest.length > 0;) rest = rest.subarray(await tcp.write(rest));
}

/** Ending fails what is under way: that is its purpose. */
function ignoreAfterEnd(): void {}
