import { within } from "./deadline.ts";
import { Inbox } from "./inbox.ts";
import { Mismatch, show } from "./mismatch.ts";
import { encodeFrame, type Frame, FrameDecoder, type FrameOptions, OPCODE } from "./websocket_frames.ts";

export interface ClientOptions {
  /** Answer the server's pings. */
  readonly pongs: boolean;
  /** Header lines of the upgrade request beside the necessary ones. */
  readonly headers?: readonly string[];
}

/** A WebSocket client that can send anything and hides nothing that comes. */
export class WebSocketClient implements AsyncDisposable {
  readonly inbox = new Inbox();
  readonly #connection: Deno.TcpConn;
  readonly #pongs: boolean;
  readonly #decoder = new FrameDecoder();
  readonly #since = performance.now();
  #reading: Promise<void> = Promise.resolve();
  #writing: Promise<void> = Promise.resolve();
  #closeCode: number | null = null;
  #dropped = false;

  private constructor(connection: Deno.TcpConn, options: ClientOptions) {
    this.#connection = connection;
    this.#pongs = options.pongs;
  }

  /** Connects and upgrades. @throws {Mismatch} If the server refuses. */
  static async connect(url: string, options: ClientOptions): Promise<WebSocketClient> {
    const { hostname, port } = new URL(url);
    const connection = await Deno.connect({ hostname: hostname.replace(/^\[|\]$/g, ""), port: Number(port) });
    const client = new WebSocketClient(connection, options);
    try {
      await within(client.#upgrade(`${hostname}:${port}`, options.headers ?? []), "answer to the upgrade");
    } catch (error) {
      connection.close();
      throw error;
    }
    client.#reading = client.#read();
    return client;
  }

  /** `IP:PORT` of this end, as the server sees it. */
  get address(): string {
    const { hostname, port } = this.#connection.localAddr;
    return hostname.includes(":") ? `[${hostname}]:${port}` : `${hostname}:${port}`;
  }

  /** Sends one text message in one frame. */
  send(text: string): Promise<void> {
    return this.frame(OPCODE.text, new TextEncoder().encode(text));
  }

  /** Sends one frame. */
  frame(opcode: number, payload: Uint8Array, options: FrameOptions = {}): Promise<void> {
    return this.bytes(encodeFrame(opcode, payload, options));
  }

  /** Sends bytes as they are. A connection that the server has ended swallows them. */
  bytes(bytes: Uint8Array): Promise<void> {
    this.#writing = this.#writing.then(async () => {
      for (let at = 0; at < bytes.length && !this.#dropped;) {
        try {
          at += await this.#connection.write(bytes.subarray(at));
        } catch (error) {
          if (isEnd(error)) return;
          throw error;
        }
      }
    });
    return this.#writing;
  }

  /** Ends the TCP connection without a word. */
  async drop(): Promise<void> {
    if (this.#dropped) return;
    this.#dropped = true;
    this.#connection.close();
    await this.#reading;
    await this.#writing;
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.drop();
  }

  async #upgrade(host: string, headers: readonly string[]): Promise<void> {
    const key = crypto.getRandomValues(new Uint8Array(16)).toBase64();
    await this.bytes(
      new TextEncoder().encode([
        "GET / HTTP/1.1",
        `Host: ${host}`,
        "Upgrade: websocket",
        "Connection: Upgrade",
        `Sec-WebSocket-Key: ${key}`,
        "Sec-WebSocket-Version: 13",
        ...headers,
        "\r\n",
      ].join("\r\n")),
    );
    let head = "";
    const buffer = new Uint8Array(65_536);
    while (!head.includes("\r\n\r\n")) {
      const count = await this.#connection.read(buffer);
      if (count === null) throw new Mismatch(`the server refused the upgrade: ${show(head)}`);
      head += String.fromCharCode(...buffer.subarray(0, count));
    }
    if (!head.startsWith("HTTP/1.1 101 ")) throw new Mismatch(`the server refused the upgrade: ${show(head)}`);
    const early = head.slice(head.indexOf("\r\n\r\n") + 4);
    this.#take(Uint8Array.from(early, (char) => char.charCodeAt(0)));
  }

  async #read(): Promise<void> {
    const buffer = new Uint8Array(65_536);
    try {
      while (true) {
        const count = await this.#connection.read(buffer);
        if (count === null) break;
        this.#take(buffer.subarray(0, count));
      }
      this.inbox.finish({ how: "eof", closeCode: this.#closeCode });
    } catch (error) {
      if (!isEnd(error) && !this.#dropped) throw error;
      this.inbox.finish({ how: "reset", closeCode: this.#closeCode });
    }
  }

  #take(bytes: Uint8Array): void {
    this.inbox.bytes += bytes.length;
    for (const frame of this.#decoder.push(bytes)) this.#frame(frame);
  }

  #frame({ opcode, fin, payload }: Frame): void {
    if (opcode === OPCODE.text && fin) return this.inbox.message(new TextDecoder().decode(payload));
    if (opcode === OPCODE.ping) {
      this.inbox.pings.push({ atMs: performance.now() - this.#since, payload });
      if (this.#pongs) void this.frame(OPCODE.pong, payload);
    } else if (opcode === OPCODE.pong) {
      this.inbox.pongs.push(new TextDecoder().decode(payload));
    } else if (opcode === OPCODE.close) {
      this.#closeCode = payload.length < 2 ? 1005 : payload[0]! << 8 | payload[1]!;
      void this.frame(OPCODE.close, payload);
    } else {
      this.inbox.finish({ how: "broken", closeCode: null, why: `a frame with opcode ${opcode}, fin ${fin}` });
    }
    this.inbox.wake();
  }
}

function isEnd(error: unknown): boolean {
  return error instanceof Deno.errors.ConnectionReset || error instanceof Deno.errors.BrokenPipe ||
    error instanceof Deno.errors.BadResource || error instanceof Deno.errors.Interrupted ||
    error instanceof Deno.errors.NotConnected || error instanceof Deno.errors.ConnectionAborted;
}
