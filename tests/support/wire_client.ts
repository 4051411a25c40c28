/**
 * A small client of the wire for tests and measurements. It is written against the protocol alone and shares no code
 * with the server. WebSocket frames are made by hand over TCP, because the platform's client can neither stop reading
 * nor end in the middle of a frame.
 */

/** Members of a JSON object of which only the caller knows what to expect. */
export type Members = Record<string, unknown>;

/** How a conversation ended: `code` is the one of the server's close frame, if it sent one. */
export interface End {
  readonly code: number | null;
  readonly reason: string;
}

/** An error answer. `code` and `data` are the wire's. */
export class WireError extends Error {
  override readonly name = "WireError";
  constructor(readonly code: number, message: string, readonly data: unknown) {
    super(message);
  }
}

/** Bytes both ways; ending it makes pending reads and writes fail. */
interface ByteStream {
  read(into: Uint8Array): Promise<number | null>;
  write(bytes: Uint8Array): Promise<unknown>;
  end(): void;
}

/** Turns one text into bytes, and bytes into messages. */
interface Framing {
  encode(payload: Uint8Array): Uint8Array[];
  /** Takes one unit off the front of `bytes`; null: it is not complete yet. `opcode` is 1 for a message. */
  take(bytes: Uint8Array): { used: number; opcode: number; payload: Uint8Array } | null;
}

const OPCODE = { text: 1, binary: 2, close: 8, ping: 9, pong: 10 } as const;
const INITIAL_BUFFER_BYTES = 1024 * 1024;
const encoder = new TextEncoder();
const decoder = new TextDecoder();

interface Pending {
  resolve(result: unknown): void;
  reject(error: Error): void;
}

export class WireClient implements AsyncDisposable {
  /** Hears every notification, in the order of the wire. */
  onNotification: (method: string, params: Members) => void = () => {};
  /**
   * Sees every message as bytes before it is decoded, so that a flood can be counted at the price of a glance. True:
   * it needs no decoding. The view is valid only during the call.
   */
  tap: ((message: Uint8Array) => boolean) | null = null;
  /** Resolves, never rejects, when nothing more can come. */
  readonly ended: Promise<End>;

  readonly #stream: ByteStream;
  readonly #framing: Framing;
  readonly #pending = new Map<number, Pending>();
  readonly #end = Promise.withResolvers<End>();
  #nextId = 1;
  #over: End | null = null;
  #writes: Promise<unknown> = Promise.resolve();
  #paused: PromiseWithResolvers<void> | null = null;
  #buffer = new Uint8Array(INITIAL_BUFFER_BYTES);
  #from = 0;
  #to = 0;
  readonly #pumped: Promise<void>;

  private constructor(stream: ByteStream, framing: Framing, early: Uint8Array) {
    this.#stream = stream;
    this.#framing = framing;
    this.#buffer.set(early);
    this.#to = early.length;
    this.ended = this.#end.promise;
    this.#pumped = this.#pump();
  }

  /**
   * Connects to `ws://IP:PORT`.
   *
   * @throws {Error} With the status line, if the server refuses the upgrade.
   */
  static async connect(url: string, headers: Readonly<Record<string, string>> = {}): Promise<WireClient> {
    const { hostname, port } = new URL(url);
    const tcp = await Deno.connect({ hostname: hostname.replace(/^\[|\]$/g, ""), port: Number(port) });
    try {
      tcp.setNoDelay(true);
      const early = await upgrade(tcp, `${hostname}:${port}`, headers);
      const stream = { read: (into: Uint8Array) => tcp.read(into), write: writeAll(tcp), end: () => tcp.close() };
      return new WireClient(stream, websocketFraming, early);
    } catch (error) {
      tcp.close();
      throw error;
    }
  }

  /** Talks to a child through its stdin and stdout, which the client owns from then on. */
  static overStdio(child: Deno.ChildProcess): WireClient {
    const [reader, writer] = [child.stdout.getReader(), child.stdin.getWriter()];
    let rest: Uint8Array = new Uint8Array();
    const stream: ByteStream = {
      async read(into) {
        if (rest.length === 0) {
          const { value, done } = await reader.read();
          if (done) return null;
          rest = value;
        }
        const count = Math.min(rest.length, into.length);
        into.set(rest.subarray(0, count));
        rest = rest.subarray(count);
        return count;
      },
      write: (bytes) => writer.write(bytes as Uint8Array<ArrayBuffer>),
      end() {
        writer.abort().catch(ignoreAfterEnd);
        reader.cancel().catch(ignoreAfterEnd);
      },
    };
    return new WireClient(stream, lineFraming, new Uint8Array());
  }

  /** Sends a request; rejects with {@linkcode WireError} on an error answer, and when the conversation ends first. */
  request<T = Members>(method: string, params: unknown = null): Promise<T> {
    const id = this.#nextId++;
    const { promise, resolve, reject } = Promise.withResolvers<T>();
    if (this.#over !== null) {
      reject(new Error(`${method}: the conversation is over: ${this.#over.reason}`));
      return promise;
    }
    this.#pending.set(id, { resolve: resolve as (result: unknown) => void, reject });
    this.send(JSON.stringify({ id, method, params }));
    return promise;
  }

  notify(method: string, params: unknown = null): void {
    this.send(JSON.stringify({ method, params }));
  }

  /** The handshake; `resume` names a session to take over. Returns the session's id. */
  async initialize(resume?: string): Promise<string> {
    const params = { clientName: "wire-client", ...(resume === undefined ? {} : { resumeSessionId: resume }) };
    const { sessionId } = await this.request<{ sessionId: string }>("initialize", params);
    this.notify("initialized");
    return sessionId;
  }

  /** Queues one message as it stands. What cannot be written any more is dropped: `ended` tells. */
  send(message: string | Uint8Array): void {
    const payload = typeof message === "string" ? encoder.encode(message) : message;
    for (const piece of this.#framing.encode(payload)) this.sendBytes(piece);
  }

  /** Queues bytes below the framing, e.g. the beginning of a frame that never ends. */
  sendBytes(bytes: Uint8Array): void {
    this.#writes = this.#writes.then(() => this.#over ?? this.#stream.write(bytes)).catch(ignoreAfterEnd);
  }

  /** Resolves when all that was queued has been handed to the system, or can no longer be. */
  async flushed(): Promise<void> {
    await this.#writes;
  }

  /** Stops taking messages; one read that is under way may still fill the buffer. */
  pauseReading(): void {
    this.#paused ??= Promise.withResolvers();
  }

  resumeReading(): void {
    this.#paused?.resolve();
    this.#paused = null;
  }

  /** WebSocket: sends a close frame. */
  sendClose(code: number): void {
    this.sendBytes(frame(OPCODE.close, new Uint8Array([code >> 8, code & 0xff]), 2)[0]!);
  }

  /** Ends the carrier on the spot: no close frame, and a reset if there was something unread. */
  drop(): void {
    this.#finish({ code: null, reason: "dropped by the client" });
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.drop();
    await this.#pumped;
    await this.#writes;
  }

  async #pump(): Promise<void> {
    try {
      while (this.#over === null) {
        while (this.#paused !== null) await this.#paused.promise;
        this.#deliver();
        if (this.#over !== null) return;
        this.#makeRoom();
        const count = await this.#stream.read(this.#buffer.subarray(this.#to));
        if (count === null) return this.#finish({ code: null, reason: "end of stream" });
        this.#to += count;
      }
    } catch (error) {
      this.#finish({ code: null, reason: error instanceof Error ? error.message : String(error) });
    }
  }

  #deliver(): void {
    while (this.#paused === null && this.#over === null) {
      const unit = this.#framing.take(this.#buffer.subarray(this.#from, this.#to));
      if (unit === null) return;
      this.#from += unit.used;
      if (unit.opcode === OPCODE.text) this.#message(unit.payload);
      else if (unit.opcode === OPCODE.ping) frame(OPCODE.pong, unit.payload).forEach((piece) => this.sendBytes(piece));
      else if (unit.opcode === OPCODE.close) this.#closed(unit.payload);
      else if (unit.opcode !== OPCODE.pong) throw new Error(`unexpected WebSocket opcode ${unit.opcode}`);
    }
  }

  #closed(payload: Uint8Array): void {
    const code = payload.length >= 2 ? payload[0]! * 256 + payload[1]! : null;
    this.#finish({ code, reason: `close frame: ${decoder.decode(payload.subarray(2))}` });
  }

  #message(bytes: Uint8Array): void {
    if (this.tap?.(bytes)) return;
    const message = JSON.parse(decoder.decode(bytes)) as Members;
    if (typeof message["method"] === "string") {
      return this.onNotification(message["method"], message["params"] as Members);
    }
    const id = message["id"] as number;
    const pending = this.#pending.get(id);
    if (pending === undefined) {
      throw new Error(`an answer that nobody waits for: ${decoder.decode(bytes.slice(0, 500))}`);
    }
    this.#pending.delete(id);
    const error = message["error"] as { code: number; message: string; data?: unknown } | undefined;
    if (error === undefined) pending.resolve(message["result"]);
    else pending.reject(new WireError(error.code, error.message, error.data));
  }

  #makeRoom(): void {
    if (this.#from === this.#to) this.#from = this.#to = 0;
    if (this.#buffer.length - this.#to >= this.#buffer.length / 4) return;
    const held = this.#buffer.subarray(this.#from, this.#to);
    const target = held.length > this.#buffer.length / 2 ? new Uint8Array(this.#buffer.length * 2) : this.#buffer;
    target.set(held);
    [this.#buffer, this.#from, this.#to] = [target, 0, held.length];
  }

  #finish(end: End): void {
    if (this.#over !== null) return;
    this.#over = end;
    this.#stream.end();
    this.resumeReading();
    for (const { reject } of this.#pending.values()) reject(new Error(`the conversation is over: ${end.reason}`));
    this.#pending.clear();
    this.#end.resolve(end);
  }
}

const lineFraming: Framing = {
  encode: (payload) => [payload, new Uint8Array([10])],
  take(bytes) {
    const end = bytes.indexOf(10);
    return end < 0 ? null : { used: end + 1, opcode: OPCODE.text, payload: bytes.subarray(0, end) };
  },
};

const websocketFraming: Framing = {
  encode: (payload) => frame(OPCODE.text, payload),
  take(bytes) {
    if (bytes.length < 2) return null;
    if ((bytes[0]! & 0xf0) !== 0x80) throw new Error("a fragmented or extended WebSocket frame");
    const short = bytes[1]!;
    const header = short < 126 ? 2 : short === 126 ? 4 : 10;
    if (bytes.length < header) return null;
    let length = short < 126 ? short : 0;
    for (let i = 2; i < header; i++) length = length * 256 + bytes[i]!;
    if (bytes.length < header + length) return null;
    return { used: header + length, opcode: bytes[0]! & 0x0f, payload: bytes.subarray(header, header + length) };
  },
};

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
  await writeAll(tcp)(encoder.encode(request));
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

function writeAll(tcp: Deno.TcpConn): (bytes: Uint8Array) => Promise<void> {
  return async (bytes) => {
    for (let rest = bytes; rest.length > 0;) rest = rest.subarray(await tcp.write(rest));
  };
}

/** A carrier that ends fails what is under way; `ended` has told already, or the reader is about to. */
function ignoreAfterEnd(): void {}
