/** A WebSocket proxy that sees every message and may keep, change, answer or add some. */

/** A JSON-RPC message of either side. */
export interface WireMessage {
  readonly id?: string | number;
  readonly method?: string;
  readonly params?: unknown;
  readonly result?: unknown;
  readonly error?: unknown;
  readonly trace?: unknown;
}

/** One connection through the proxy. */
export interface MessageLink {
  /** How many connections came before. */
  readonly index: number;
  /** Sends a message, or any text, as if the other side had. */
  toClient(message: unknown): void;
  toServer(message: unknown): void;
  /** Ends both sides. */
  close(): void;
}

/** What passes instead of a message: it, another one, or with undefined none. */
export type Alter = (message: WireMessage, link: MessageLink) => WireMessage | undefined;

export interface MessageProxyOptions {
  readonly toServer?: Alter;
  readonly toClient?: Alter;
}

const same: Alter = (message) => message;

export class MessageProxy implements AsyncDisposable {
  readonly url: string;
  /** What passed, as it came from its sender. */
  readonly seen: { readonly from: "client" | "server"; readonly link: number; readonly message: WireMessage }[] = [];
  readonly #target: string;
  readonly #server: Deno.HttpServer<Deno.NetAddr>;
  readonly #links = new Set<{ close(): void; readonly ended: Promise<unknown> }>();
  readonly #alter: Required<MessageProxyOptions>;
  #accepted = 0;

  constructor(target: string, options: MessageProxyOptions = {}) {
    this.#target = target;
    this.#alter = { toServer: same, toClient: same, ...options };
    const listening = { hostname: "127.0.0.1", port: 0, onListen: () => {} };
    this.#server = Deno.serve(listening, (request) => this.#upgrade(request));
    this.url = `ws://127.0.0.1:${this.#server.addr.port}`;
  }

  /** The requests of the client under this method, in their order. */
  requests(method: string): WireMessage[] {
    return this.seen.filter(({ from, message }) => from === "client" && message.method === method)
      .map(({ message }) => message);
  }

  /** Ends all connections. */
  close(): void {
    for (const link of this.#links) link.close();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.close();
    await Promise.all([...this.#links].map(({ ended }) => ended));
    await this.#server.shutdown();
  }

  #upgrade(request: Request): Response {
    // The headers cannot be read after the upgrade.
    const authorization = request.headers.get("authorization");
    const { socket, response } = Deno.upgradeWebSocket(request, { idleTimeout: 0 });
    this.#join(socket, authorization === null ? {} : { authorization });
    return response;
  }

  #join(client: WebSocket, headers: Record<string, string>): void {
    const server = new (WebSocket as unknown as SocketWithHeaders)(this.#target, { headers });
    const sides = [client, server];
    const early: string[] = [];
    const toServer = (text: string) => server.readyState === WebSocket.OPEN ? server.send(text) : early.push(text);
    const toClient = (text: string) => client.readyState === WebSocket.OPEN ? client.send(text) : undefined;
    const link: MessageLink = {
      index: this.#accepted++,
      toClient: (message) => toClient(textOf(message)),
      toServer: (message) => void toServer(textOf(message)),
      close: () => sides.forEach(close),
    };
    const pass =
      (from: "client" | "server", alter: Alter, on: (text: string) => unknown) => ({ data }: MessageEvent) => {
        const message = JSON.parse(data) as WireMessage;
        this.seen.push({ from, link: link.index, message });
        const altered = alter(message, link);
        // What is not altered passes as it is written.
        if (altered !== undefined) on(altered === message ? data : textOf(altered));
      };
    client.onmessage = pass("client", this.#alter.toServer, toServer);
    server.onmessage = pass("server", this.#alter.toClient, toClient);
    server.onopen = () => early.splice(0).forEach((text) => server.send(text));
    const ended = sides.map((socket) =>
      new Promise<void>((resolve) => {
        socket.onclose = () => {
          sides.forEach(close);
          resolve();
        };
        socket.onerror = () => sides.forEach(close);
      })
    );
    const entry = { close: link.close, ended: Promise.all(ended) };
    this.#links.add(entry);
    void entry.ended.then(() => this.#links.delete(entry));
  }
}

type SocketWithHeaders = new (url: string, options: { headers: Record<string, string> }) => WebSocket;

function textOf(message: unknown): string {
  return typeof message === "string" ? message : JSON.stringify(message);
}

function close(socket: WebSocket): void {
  if (socket.readyState < WebSocket.CLOSING) socket.close();
}
