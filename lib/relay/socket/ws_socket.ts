import { type Clock, waitingClock } from "../../clock.ts";
import { BINARY } from "./client_frame.ts";
import { Keepalive } from "./keepalive.ts";
import { MAX_FRAME_BYTES } from "../limits.ts";
import { ownBytes } from "./own_bytes.ts";
import type { Dial, DialOptions, RelaySocket, SocketEndReason, SocketReceiver } from "./relay_socket.ts";
import { SendBuffer } from "./send_buffer.ts";
import { type OpenedWs, openWs } from "./ws_dial.ts";
import { endReason } from "./ws_end.ts";

/** Ours: how long a rendezvous may take to answer our close frame. */
const CLOSE_TIMEOUT_MS = 1_000;

/** Dials a rendezvous. */
export const wsDial: Dial = (url, options) => dialRendezvous(url, options, waitingClock);

/** The same with a clock of its own, for the time that the dial may take and for the pings. */
export async function dialRendezvous(url: string, options: DialOptions, clock: Clock): Promise<RelaySocket> {
  const opened = await openWs(url, {
    ...options,
    clock,
    maxMessageBytes: MAX_FRAME_BYTES,
    closeTimeoutMs: CLOSE_TIMEOUT_MS,
  });
  return new WsSocket(opened, clock);
}

class WsSocket implements RelaySocket {
  readonly gone: Promise<void>;
  readonly #ws: OpenedWs["ws"];
  readonly #send: OpenedWs["send"];
  readonly #close: OpenedWs["close"];
  readonly #keepalive: Keepalive;
  readonly #buffer: SendBuffer;
  #receiver: SocketReceiver | undefined;
  #end: SocketEndReason | undefined;

  constructor({ ws, gone, send, close }: OpenedWs, clock: Clock) {
    [this.#ws, this.gone, this.#send, this.#close] = [ws, gone, send, close];
    this.#keepalive = new Keepalive(clock, { ping: () => ws.ping(), dead: (reason) => this.#drop(reason) });
    this.#buffer = new SendBuffer(this.#keepalive);
    ws.on("message", (data, isBinary) => this.#deliver(data, isBinary));
    ws.on("pong", () => this.#keepalive.pong());
    // An error is followed by `close`, but only it tells what the other side did.
    ws.on("error", (error) => this.#drop(endReason(error)));
    ws.on("close", (code) => this.#finish(endReason(code)));
  }

  start(receiver: SocketReceiver): void {
    this.#receiver = receiver;
    if (this.#end !== undefined) return receiver.ended(this.#end);
    this.#keepalive.start();
    this.#ws.resume();
  }

  send(frame: Uint8Array<ArrayBuffer>): void {
    if (this.#end === undefined) this.#send(BINARY, frame, true, this.#buffer.add(frame.length), true);
  }

  get bufferedBytes(): number {
    return this.#buffer.bytes;
  }

  drainedTo(bytes: number): Promise<void> {
    return this.#buffer.drainedTo(bytes);
  }

  close(how: "politely" | "at once"): void {
    if (how === "at once") return this.#drop("closed by us");
    if (this.#end !== undefined) return;
    // Without an answer it ends after a moment; what comes until then is nobody's business.
    this.#close(1000, "");
    this.#finish("closed by us");
  }

  #deliver(data: Uint8Array<ArrayBuffer>, isBinary: boolean): void {
    if (this.#end !== undefined) return;
    if (isBinary) this.#receiver?.binary(ownBytes(data));
    else this.#receiver?.text();
  }

  /** Ends the connection without a close frame, also one that is being closed. */
  #drop(reason: SocketEndReason): void {
    this.#ws.terminate();
    this.#finish(reason);
  }

  #finish(reason: SocketEndReason): void {
    if (this.#end !== undefined) return;
    this.#end = reason;
    this.#keepalive.end();
    this.#buffer.end();
    this.#receiver?.ended(reason);
  }
}
