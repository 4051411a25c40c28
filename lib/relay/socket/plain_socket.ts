import { type Clock, waitingClock } from "../../clock.ts";
import {
  type Connection,
  type ConnectionEnd,
  HIGH_WATER_BYTES,
  type Receiver,
  SHARED_HIGH_WATER_BYTES,
} from "../../rpc/connection.ts";
import { BINARY, CONTINUATION, TEXT } from "./client_frame.ts";
import { Inbox } from "../stream/inbox.ts";
import { Keepalive } from "./keepalive.ts";
import { FORWARD_CLOSE_TIMEOUT_MS, FORWARD_FRAGMENT_BYTES, MAX_MESSAGE_BYTES } from "../limits.ts";
import { ownBytes } from "./own_bytes.ts";
import type { DialOptions, SocketEndReason } from "./relay_socket.ts";
import { SendBuffer } from "./send_buffer.ts";
import { type OpenedWs, openWs } from "./ws_dial.ts";
import { endReason } from "./ws_end.ts";

export interface PlainDialOptions extends DialOptions {
  /** How log lines call the other end. Without the URL's query. */
  readonly label: string;
  /** Whether it is noticed that the other end has gone without a word, by pings. */
  readonly keepalive?: boolean;
  readonly clock?: Clock;
}

/** A connection that carries JSON-RPC as it is, without a relay. Messages are delivered as bytes, texts as well. */
export interface PlainSocket extends Connection {
  /** Queues one binary message; a large one leaves in fragments. The bytes must not be changed afterwards. */
  sendBytes(message: Uint8Array<ArrayBuffer>): void;
  /** Ends the connection without a close frame; what was to be sent is lost. */
  drop(): void;
  /** Resolves when nothing of the socket is left. */
  readonly gone: Promise<void>;
}

/**
 * Opens a WebSocket for messages of up to `MAX_MESSAGE_BYTES`. A receiver that returns a promise stops its peer.
 *
 * @param url Used exactly as it is.
 * @throws {DialError} With the HTTP status where the upgrade was refused. Or the signal's reason.
 */
export async function dialPlain(url: string, options: PlainDialOptions): Promise<PlainSocket> {
  const { clock = waitingClock, label, keepalive = false, ...dial } = options;
  const limits = { maxMessageBytes: MAX_MESSAGE_BYTES, closeTimeoutMs: FORWARD_CLOSE_TIMEOUT_MS };
  return new WsConnection(await openWs(url, { ...dial, ...limits, clock }), label, keepalive ? clock : undefined);
}

class WsConnection implements PlainSocket {
  readonly label: string;
  readonly malformedPrefix: string;
  readonly gone: Promise<void>;
  sharing = false;
  readonly #ws: OpenedWs["ws"];
  readonly #sendFrame: OpenedWs["send"];
  readonly #closeWs: OpenedWs["close"];
  readonly #keepalive: Keepalive | undefined;
  readonly #buffer: SendBuffer;
  #inbox: Inbox | undefined;
  #end: ConnectionEnd | undefined;

  constructor({ ws, gone, send, close }: OpenedWs, label: string, clock: Clock | undefined) {
    [this.#ws, this.gone, this.#sendFrame, this.#closeWs, this.label] = [ws, gone, send, close, label];
    this.malformedPrefix = `failed to parse websocket JSON-RPC message from ${label}: `;
    if (clock !== undefined) {
      const dead = (reason: SocketEndReason) => {
        ws.terminate();
        this.#lost(reason);
      };
      this.#keepalive = new Keepalive(clock, { ping: () => ws.ping(), dead });
    }
    this.#buffer = new SendBuffer(this.#keepalive);
    ws.on("message", (data) => this.#inbox?.put(ownBytes(data)));
    ws.on("pong", () => this.#keepalive?.pong());
    ws.on("error", (error) => this.#lost(endReason(error)));
    ws.on("close", (code) => this.#lost(endReason(code)));
  }

  start(receiver: Receiver): void {
    this.#inbox = new Inbox(receiver, (isFull) => this.#read(!isFull));
    if (this.#end !== undefined) return this.#inbox.endAtOnce(this.#end);
    this.#keepalive?.start();
    this.#ws.resume();
  }

  send(message: string): void {
    if (this.#end !== undefined) return;
    const bytes = new TextEncoder().encode(message);
    this.#sendFrame(TEXT, bytes, true, this.#buffer.add(bytes.length));
  }

  sendBytes(message: Uint8Array<ArrayBuffer>): void {
    if (this.#end !== undefined) return;
    let at = 0;
    do {
      const fragment = message.subarray(at, at + FORWARD_FRAGMENT_BYTES);
      const opcode = at === 0 ? BINARY : CONTINUATION;
      at += fragment.length;
      this.#sendFrame(opcode, fragment, at === message.length, this.#buffer.add(fragment.length));
    } while (at < message.length);
  }

  get congested(): boolean {
    return this.#buffer.bytes > this.#highWater;
  }

  drained(): Promise<void> {
    return this.#buffer.drainedTo(this.#highWater);
  }

  close(code = 1000, reason = ""): void {
    if (this.#end !== undefined) return;
    this.#closeWs(code, reason);
    // What comes until the answer does is nobody's business, but it stands before the answer.
    this.#ws.resume();
    this.#endAtOnce({ reason: reason || "closed by us" });
  }

  drop(): void {
    this.#ws.terminate();
    this.#endAtOnce({ reason: "closed by us" });
  }

  get #highWater(): number {
    return this.sharing ? SHARED_HIGH_WATER_BYTES : HIGH_WATER_BYTES;
  }

  #read(on: boolean): void {
    this.#keepalive?.listening(on);
    if (on) this.#ws.resume();
    else this.#ws.pause();
  }

  #endAtOnce(end: ConnectionEnd): void {
    this.#finish(end);
    this.#inbox?.endAtOnce(end);
  }

  /** The other side has ended it: what it sent before is delivered first. */
  #lost(reason: SocketEndReason): void {
    if (this.#end !== undefined) return;
    const failure = `failed to read websocket JSON-RPC message from ${this.label}: ${reason}`;
    this.#finish(reason === "closed by the peer" ? { reason } : { reason, failure });
    this.#inbox?.end(this.#end!);
  }

  #finish(end: ConnectionEnd): void {
    this.#end ??= end;
    this.#keepalive?.end();
    this.#buffer.end();
  }
}
