import {
  type Connection,
  type ConnectionEnd,
  HIGH_WATER_BYTES,
  type Message,
  type Receiver,
  SHARED_HIGH_WATER_BYTES,
} from "./connection.ts";
import { websocketFailure } from "./websocket_failure.ts";

/**
 * How long a peer may take to answer our close frame, and to take what was sent before it, until its socket is
 * dropped. For the receiver the connection has ended when `close` returns.
 */
export const CLOSE_PATIENCE_MS = 2_000;
/** How long the runtime may take to tell the end of a socket that was dropped. Deno 2.9 tells it at once, 2.4 never. */
const DROP_PATIENCE_MS = 100;
/** The platform tells of no room in its send buffer, so we look: after 1 ms, then at doubling intervals up to this. */
const LONGEST_POLL_MS = 16;
/**
 * Most bytes of one message. Source: the reference. The platform bounds frames (64 MiB each) but not what it puts
 * together from fragments: a peer that never ends a message is held by nothing but memory.
 */
export const MAX_MESSAGE_BYTES = 64 * 1024 * 1024;
const NORMAL_CLOSURE = 1000;
const MESSAGE_TOO_BIG = 1009;
/** Most bytes of UTF-8 that a close frame has room for besides the code. */
const MAX_REASON_BYTES = 123;

export interface WebSocketConnection extends Connection {
  /** Resolves when the socket itself is gone as well, at the latest 2.1 s after `close`. */
  readonly gone: Promise<void>;
}

/**
 * A connection over one open WebSocket, at either end of it.
 *
 * @param socket Must be open, or opening at the server's end. Its event handlers belong to the connection from here on.
 * @param peer The other side: at the server's end `IP:PORT`, an IPv6 address in brackets; at the client's its URL.
 * @param drop Frees the socket on a platform other than Deno, if there is a way: its peer does not answer our close frame.
 */
export function websocketConnection(socket: WebSocket, peer: string, drop: () => void = () => {}): WebSocketConnection {
  return new SocketConnection(socket, peer, drop);
}

class SocketConnection implements WebSocketConnection {
  readonly label: string;
  sharing = false;
  readonly malformedPrefix: string;
  readonly gone: Promise<void>;
  readonly #socket: WebSocket;
  readonly #dropElsewhere: () => void;
  readonly #resolveGone: () => void;
  #receiver: Receiver | undefined;
  /** What came before `start`, at most {@linkcode MAX_MESSAGE_BYTES} of it. */
  readonly #early: Message[] = [];
  #earlyBytes = 0;
  #end: ConnectionEnd | undefined;
  #failure = "";
  #waiters: (() => void)[] = [];
  #poll: ReturnType<typeof setTimeout> | undefined;
  #patience: ReturnType<typeof setTimeout> | undefined;

  constructor(socket: WebSocket, peer: string, drop: () => void) {
    this.label = `exec-server websocket ${peer}`;
    this.malformedPrefix = `failed to parse websocket JSON-RPC message from ${this.label}: `;
    this.#socket = socket;
    this.#dropElsewhere = drop;
    const { promise, resolve } = Promise.withResolvers<void>();
    this.gone = promise;
    this.#resolveGone = resolve;
    socket.binaryType = "arraybuffer";
    socket.onmessage = ({ data }) => this.#deliver(typeof data === "string" ? data : new Uint8Array(data));
    socket.onerror = (event) => {
      // Node.js 22 has the event, but not its class.
      this.#failure = "message" in event && typeof event.message === "string" ? event.message : "";
      // A handshake that fails is reported by this event alone.
      if (socket.readyState === WebSocket.CONNECTING) this.#gone("the upgrade failed");
    };
    socket.onclose = ({ code, reason, wasClean }) => {
      const closed = `closed by the peer with code ${code}${reason === "" ? "" : `: ${reason}`}`;
      this.#gone(this.#failure || closed, websocketFailure(this.#failure, wasClean));
    };
  }

  start(receiver: Receiver): void {
    const end = this.#end;
    this.#receiver = receiver;
    for (const message of this.#early.splice(0)) {
      if (this.#end === end) void receiver.message(message);
    }
    if (end !== undefined) receiver.ended(end);
  }

  send(message: string): void {
    if (this.#end === undefined) this.#socket.send(message);
  }

  get congested(): boolean {
    return this.#end === undefined &&
      this.#socket.bufferedAmount > (this.sharing ? SHARED_HIGH_WATER_BYTES : HIGH_WATER_BYTES);
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
    sendClose(this.#socket, code, reason);
    if (this.#socket.readyState !== WebSocket.CLOSED) {
      this.#patience = setTimeout(() => this.#drop(), CLOSE_PATIENCE_MS);
    }
    this.#finish({ reason: reason || `closed by us with code ${code}` });
  }

  #deliver(message: Message): void {
    if (this.#end !== undefined) return;
    if (isTooBig(message)) return this.close(MESSAGE_TOO_BIG, "message too big");
    // A peer that speaks again has often taken everything: the answer need not wait for the next look.
    if (this.#waiters.length > 0 && !this.congested) this.#release();
    if (this.#receiver !== undefined) return void this.#receiver.message(message);
    this.#early.push(message);
    this.#earlyBytes += message.length;
    if (this.#earlyBytes > MAX_MESSAGE_BYTES) this.close(MESSAGE_TOO_BIG, "too much before the start");
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

  /** On Deno the socket's last event comes now. If not, or elsewhere, nobody need wait for it any longer. */
  #drop(): void {
    if (dropSocket(this.#socket)) {
      this.#patience = setTimeout(this.#resolveGone, DROP_PATIENCE_MS);
    } else {
      this.#dropElsewhere();
      this.#resolveGone();
    }
  }

  /** The socket is no more. @param failure Why it broke; empty: it was closed. */
  #gone(reason: string, failure = ""): void {
    clearTimeout(this.#patience);
    this.#resolveGone();
    if (this.#end !== undefined) return;
    this.#finish(
      failure === ""
        ? { reason }
        : { reason, failure: `failed to read websocket JSON-RPC message from ${this.label}: ${failure}` },
    );
  }

  /** The conversation is over, whether or not the socket still is there. */
  #finish(end: ConnectionEnd): void {
    this.#end = end;
    this.#release();
    this.#receiver?.ended(end);
  }
}

function isTooBig(message: Message): boolean {
  if (typeof message !== "string") return message.length > MAX_MESSAGE_BYTES;
  // A unit of UTF-16 is one to three bytes of UTF-8.
  return message.length > MAX_MESSAGE_BYTES ||
    (message.length * 3 > MAX_MESSAGE_BYTES && new TextEncoder().encode(message).length > MAX_MESSAGE_BYTES);
}

function sendClose(socket: WebSocket, code: number, reason: string): void {
  const fits = new TextEncoder().encode(reason).length <= MAX_REASON_BYTES;
  try {
    socket.close(code, fits ? reason : "");
  } catch (error) {
    // At the client's end the platform keeps most codes of the protocol for itself.
    if (!(error instanceof DOMException && error.name === "InvalidAccessError")) throw error;
    socket.close(NORMAL_CLOSURE, fits ? reason : "");
  }
}

/**
 * Frees a socket whose peer neither answers nor ends. The platform has no public call for it: after `close` it waits
 * for the peer's next frame without limit (measured on Deno 2.9.6; its own time-out covers open sockets only). So this
 * takes the resource number from where Deno keeps it. On a Deno that keeps it elsewhere nothing happens, the socket
 * stays until its peer makes itself heard, and the test of this function fails. Other platforms have none of this.
 *
 * @returns Whether the socket is freed.
 */
function dropSocket(socket: WebSocket): boolean {
  const key = Object.getOwnPropertySymbols(socket).find(({ description }) => description === "[[rid]]");
  const rid: unknown = key === undefined ? undefined : Reflect.get(socket, key);
  const { Deno } = globalThis as { Deno?: object & { readonly internal?: symbol } };
  if (Deno?.internal === undefined) return false;
  const { core } = (Reflect.get(Deno, Deno.internal) ?? {}) as { core?: { tryClose?(rid: number): void } };
  if (typeof rid !== "number" || core?.tryClose === undefined) return false;
  core.tryClose(rid);
  return true;
}
