/** A server that accepts TCP connections, reads one upgrade request of each and does with it what the test says. */

type RawConn = Deno.TcpConn | Deno.TlsConn;

export interface Upgrade {
  /** `GET /path?query HTTP/1.1`. */
  readonly requestLine: string;
  /** Names in lower case. */
  readonly headers: ReadonlyMap<string, string>;
  readonly tcp: RawConn;
  /** Sends an answer and ends the stream. */
  answer(text: string): Promise<void>;
  /** Accepts the upgrade; what follows on `tcp` is frames. */
  accept(): Promise<void>;
}

export class RawWebSocketServer implements AsyncDisposable {
  readonly #listener: Deno.TcpListener | Deno.TlsListener;
  readonly #open = new Set<RawConn>();
  readonly #serving: Promise<void>;
  readonly url: string;

  /** @param secure In place of a listener without TLS; its certificate is for `localhost`. */
  constructor(serve: (upgrade: Upgrade) => void | Promise<void>, secure?: Deno.TlsListener) {
    this.#listener = secure ?? Deno.listen({ hostname: "127.0.0.1", port: 0 });
    const { port } = this.#listener.addr as Deno.NetAddr;
    this.url = secure === undefined ? `ws://127.0.0.1:${port}` : `wss://localhost:${port}`;
    this.#serving = this.#accept(serve);
  }

  async #accept(serve: (upgrade: Upgrade) => void | Promise<void>): Promise<void> {
    const answers: Promise<void>[] = [];
    for await (const tcp of this.#listener) {
      this.#open.add(tcp);
      answers.push(readUpgrade(tcp).then((upgrade) => upgrade && serve(upgrade)));
    }
    await Promise.all(answers);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#listener.close();
    for (const tcp of this.#open) closeTcp(tcp);
    await this.#serving;
  }
}

/** Harmless when it is closed already. */
export function closeTcp(tcp: RawConn): void {
  try {
    tcp.close();
  } catch (error) {
    if (!(error instanceof Deno.errors.BadResource)) throw error;
  }
}

async function readUpgrade(tcp: RawConn): Promise<Upgrade | undefined> {
  let text = "";
  const chunk = new Uint8Array(4096);
  while (!text.includes("\r\n\r\n")) {
    const count = await tcp.read(chunk).catch(() => null);
    if (count === null) return undefined;
    text += Array.from(chunk.subarray(0, count), (byte) => String.fromCharCode(byte)).join("");
  }
  const [requestLine = "", ...lines] = text.trimEnd().split("\r\n");
  const headers = new Map(lines.map((line) => {
    const colon = line.indexOf(":");
    return [line.slice(0, colon).toLowerCase(), line.slice(colon + 1).trim()];
  }));
  const write = async (answer: string) => void await tcp.write(new TextEncoder().encode(answer));
  return {
    requestLine,
    headers,
    tcp,
    answer: async (answer) => {
      await write(answer);
      closeTcp(tcp);
    },
    accept: async () => {
      const key = new TextEncoder().encode(headers.get("sec-websocket-key") + "258EAFA5-E914-47DA-95CA-C5AB0DC85B11");
      const accept = new Uint8Array(await crypto.subtle.digest("SHA-1", key)).toBase64();
      const head = ["HTTP/1.1 101 Switching Protocols", "Upgrade: websocket", "Connection: Upgrade"];
      await write([...head, `Sec-WebSocket-Accept: ${accept}`, "", ""].join("\r\n"));
    },
  };
}
