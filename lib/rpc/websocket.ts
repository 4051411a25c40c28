import { type Connection, type ConnectionEnd, HIGH_WATER_BYTES, type Message, type Receiver } from "./connection.ts";

/**
 * How long a peer may take to answer our close frame, and to take what was sent before it, until its socket is
 * dropped. The conversation itself is over at once.
 */
export const CLOSE_PATIENCE_MS = 2_000;
/** The platform tells of no room in its send buffer, so we look: after 1 ms, then at doubling intervals up to this. */
const LONGEST_POLL_MS = 16;
/** Close codes that an application may send itself; the platform's client refuses others, its server takes all. */
const NORMAL_CLOSURE = 1000;

/** What may differ between one end of a WebSocket and the other, and between the platform and a test. */
export interface WebSocketOptions {
  /** Frees the socket of a peer that does not answer a close frame; see {@linkcode CLOSE_PATIENCE_MS}. */
  readonly drop?: (socket: WebSocket) => void;
}

/**
 * A connection over one open WebSocket, at either end of it.
 *
 * @param socket Must be open, or opening at the server's end. Its event handlers belong to the connection from here on.
 * @param peer `IP:PORT` of the other side, an IPv6 address in brackets.
 */
export function websocketConnection(socket: WebSocket, peer: string, options: WebSocketOptions = {}): Connection {
  return new WebSocketConnection(socket, peer, options);
}

class WebSocketConnection implements Connection {
  readonly label: string;
  readonly malformedPrefix: string;
  readonly #socket: WebSocket;
  readonly #drop: (socket: WebSocket) => void;
  #receiver: Receiver | undefined;
  /** What came before `start`: bounded by nothing but the caller, who starts in the turn in which the socket opened. */
  #early: Message[] = [];
  #end: ConnectionEnd | undefined;
  #failure = "";
  #waiters: (() => void)[] = [];
  #poll: ReturnType<typeof setTimeout> | undefined;
  #patience: ReturnType<typeof setTimeout> | undefined;

  constructor(socket: WebSocket, peer: string, options: WebSocketOptions) {
    this.label = `exec-server websocket ${peer}`;
    this.malformedPrefix = `failed to parse websocket JSON-RPC message from ${this.label}: `;
    this.#socket = socket;
    this.#drop = options.drop ?? dropSocket;
    socket.binaryType = "arraybuffer";
    socket.onmessage = ({ data }) => this.#deliver(typeof data === "string" ? data : new Uint8Array(data));
    socket.onerror = (event) => {
      this.#failure = event instanceof ErrorEvent ? event.message : "";
      // A handshake that fails is reported by this event alone.
      if (socket.readyState === WebSocket.CONNECTING) this.#gone("the upgrade failed");
    };
    socket.onclose = ({ code }) => this.#gone(this.#failure || `closed by the peer with code ${code}`);
  }

  start(receiver: Receiver): void {
    this.#receiver = receiver;
    const early = this.#early;
    this.#early = [];
    for (const message of early) {
      if (this.#end === undefined) void receiver.message(message);
    }
    if (this.#end !== undefined) receiver.ended(this.#end);
  }

  send(message: string): void {
    if (this.#end === undefined) this.#socket.send(message);
  }

  get congested(): boolean {
    return this.#end === undefined && this.#socket.bufferedAmount > HIGH_WATER_BYTES;
  }

  drained(): Promise<void> {
    if (!this.congested) return Promise.resolve();
    const { promise, resolve } = Promise.withResolvers<void>();
    this.#waiters.push(resolve);
    if (this.#poll === undefined) this.#lookAgain(1);
    return promise;
  }

  close(code: number = NORMAL_CLOSURE, reason = ""): void {
    if (this.#end !== undefined) return;
    this.#socket.close(code, reason);
    if (this.#socket.readyState !== WebSocket.CLOSED) {
      this.#patience = setTimeout(() => this.#drop(this.#socket), CLOSE_PATIENCE_MS);
    }
    this.#finish({ reason: reason || `closed by us with code ${code}` });
  }

  #deliver(message: Message): void {
    if (this.#end !== undefined) return;
    if (this.#receiver === undefined) this.#early.push(message);
    else void this.#receiver.message(message);
  }

  #lookAgain(afterMs: number): void {
    this.#poll = setTimeout(() => {
      this.#poll = undefined;
      if (this.congested) this.#lookAgain(Math.min(afterMs * 2, LONGEST_POLL_MS));
      else this.#release();
    }, afterMs);
  }

  #release(): void {
    clearTimeout(this.#poll);
    this.#poll = undefined;
    const waiters = this.#waiters;
    this.#waiters = [];
    for (const resolve of waiters) resolve();
  }

  /** The socket is no more. */
  #gone(reason: string): void {
    clearTimeout(this.#patience);
    if (this.#end === undefined) this.#finish({ reason });
  }

  /** The conversation is over, whether or not the socket still is there. */
  #finish(end: ConnectionEnd): void {
    this.#end = end;
    this.#release();
    this.#receiver?.ended(end);
  }
}

/**
 * Frees a socket whose peer neither answers nor ends. The platform has no public call for it: after `close` it waits
 * for the peer's next frame without limit (measured on Deno 2.9.6; its own time-out covers open sockets only). So this
 * takes the resource number from where Deno keeps it. On a Deno that keeps it elsewhere nothing happens, the socket
 * stays until its peer makes itself heard, and the test of this function fails.
 */
function dropSocket(socket: WebSocket): void {
  const key = Object.getOwnPropertySymbols(socket).find(({ description }) => description === "[[rid]]");
  const rid: unknown = key === undefined ? undefined : Reflect.get(socket, key);
  const { internal } = Deno as unknown as { internal?: symbol };
  const { core } = (internal === undefined ? {} : Reflect.get(Deno, internal) ?? {}) as {
    core?: { tryClose?(rid: number): void };
  };
  if (typeof rid === "number") core?.tryClose?.(rid);
}
