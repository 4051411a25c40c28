import { concatenate } from "../../concatenate.ts";
import type { Clock, Timer } from "../../clock.ts";
import { clientFrame, Masks } from "./client_frame.ts";
import {
  DialError,
  type DialOptions,
  REJECTION_HEADER,
  REJECTION_REASONS,
  type RejectionReason,
} from "./relay_socket.ts";
import { websocketTarget } from "./websocket_target.ts";
import { DroppingWebSocket, type WsResponse, type WsSocket, type WsTransport } from "./ws_library.ts";

export interface WsDialOptions extends DialOptions {
  readonly maxMessageBytes: number;
  readonly closeTimeoutMs: number;
  readonly clock: Clock;
}

/** An open socket of `ws` that delivers nothing before `resume`. Somebody listens to its errors. */
export interface OpenedWs {
  readonly ws: WsSocket;
  /** Resolves when its TCP connection is no more. */
  readonly gone: Promise<void>;
  /**
   * Sends one frame of a message, behind what was sent before.
   *
   * @param own Whether the payload's buffer may be overwritten.
   * @param done Called when the system has taken it or will not any more; at once if the socket is being closed.
   */
  send(opcode: number, payload: Uint8Array<ArrayBuffer>, fin: boolean, done: () => void, own?: boolean): void;
  /** Sends a close frame, behind what was sent before. */
  close(code: number, reason: string): void;
}

/**
 * Opens a WebSocket: no compression, no subprotocol, no headers but those given, no redirects, certificates checked.
 *
 * @throws {DialError} Or the signal's reason. Nothing is open then.
 */
export async function openWs(url: string, options: WsDialOptions): Promise<OpenedWs> {
  const { signal } = options;
  signal.throwIfAborted();
  const target = websocketTarget(url);
  if (target === undefined) throw new DialError("unusable url");
  const { promise, resolve, reject } = Promise.withResolvers<void>();
  const transport = new Transport();
  const interim = (status: number) => reject(new DialError("upgrade refused", status));
  const ws = dialled(target.origin, target.path, options, transport, interim);
  transport.serves(ws);
  answerPings(ws);

  const giveUp = () => reject(signal.reason);
  const timer: Timer = options.clock.after(options.timeoutMs, () => reject(new DialError("upgrade timeout")));
  signal.addEventListener("abort", giveUp, { once: true });
  ws.on("open", () => {
    // In this very moment: what came with the answer to the upgrade is delivered in the next one.
    ws.pause();
    resolve();
  });
  ws.on("unexpected-response", (_request, response) => reject(refusal(response)));
  ws.on("error", (error) => reject(new DialError("connection failed", undefined, undefined, { cause: error })));
  try {
    await promise;
    const send: OpenedWs["send"] = (...frame) => transport.send(...frame);
    const close: OpenedWs["close"] = (code, reason) => transport.close(code, reason);
    return { ws, gone: transport.gone, send, close };
  } catch (error) {
    ws.terminate();
    await transport.end();
    throw error;
  } finally {
    timer.cancel();
    signal.removeEventListener("abort", giveUp);
  }
}

function dialled(
  origin: string,
  path: string,
  { headers = {}, maxMessageBytes, closeTimeoutMs }: WsDialOptions,
  transport: Transport,
  interim: (status: number) => void,
): WsSocket {
  try {
    return new DroppingWebSocket(origin, [], {
      headers,
      perMessageDeflate: false,
      autoPong: false,
      followRedirects: false,
      maxPayload: maxMessageBytes,
      closeTimeout: closeTimeoutMs,
      rejectUnauthorized: true,
      finishRequest(request) {
        request.path = path;
        request.on("socket", (socket) => transport.is(socket));
        // Before Deno 2.5 what was upgraded is another socket than the one of the request, which is closed then. This
        // listener comes before that of `ws`, which opens.
        request.prependListener("upgrade", (_answer, socket) => transport.is(socket));
        // The reference does not wait for a better one either, and there is no bound on how many come first.
        request.on("information", ({ statusCode }) => interim(statusCode));
        request.end();
      },
    });
  } catch (error) {
    throw new DialError("unusable url", undefined, undefined, { cause: error });
  }
}

/**
 * Answers pings. While an answer waits to be written, only the newest of the pings that come is remembered (RFC 6455,
 * 5.5.3): who does not read cannot make answers pile up.
 */
function answerPings(ws: WsSocket): void {
  let writing = false;
  let newest: Uint8Array | undefined;
  const answer = (data: Uint8Array) => {
    writing = true;
    ws.pong(data, true, () => {
      writing = false;
      const next = newest;
      newest = undefined;
      if (next !== undefined) answer(next);
    });
  };
  ws.on("ping", (data) => {
    if (writing) newest = data;
    else answer(data);
  });
}

const OPEN = 1;
/** A larger frame is written by itself: to copy it takes longer than another write. */
const SMALL_BYTES = 4096;
/** So many are written at once; then the other side begins with them while further ones are made. */
const MAX_TOGETHER = 16;

/** The connection below a WebSocket, from when there is one. */
class Transport {
  readonly #masks = new Masks();
  readonly #gone = Promise.withResolvers<void>();
  #socket: WsTransport | undefined;
  #ws: WsSocket | undefined;
  /** Frames that wait for the end of the turn. */
  #small: { readonly frame: Uint8Array<ArrayBuffer>; readonly done: () => void }[] = [];

  get gone(): Promise<void> {
    return this.#gone.promise;
  }

  /** @param ws Whose connection it is. */
  serves(ws: WsSocket): void {
    this.#ws = ws;
  }

  is(socket: WsTransport): void {
    if (socket === this.#socket) return;
    this.#socket = socket;
    socket.setNoDelay(true);
    socket.once("close", () => {
      if (socket === this.#socket) this.#gone.resolve();
    });
  }

  /**
   * Frames of `ws` itself, pings and the like, are written at once and whole: none gets into another. Small ones of ours that
   * are sent in the same turn are written together: a write takes as long as all the rest of an answer (measured).
   */
  send(opcode: number, payload: Uint8Array<ArrayBuffer>, fin: boolean, done: () => void, own = false): void {
    if (this.#ws?.readyState !== OPEN) return done();
    const frame = clientFrame(opcode, payload, fin, this.#masks.next(), own);
    if (frame.length > SMALL_BYTES) {
      this.#flush();
      this.#socket?.write(frame, done);
      return;
    }
    if (this.#small.length === 0) queueMicrotask(() => this.#flush());
    this.#small.push({ frame, done });
    if (this.#small.length === MAX_TOGETHER) this.#flush();
  }

  /** Sends a close frame, behind what was sent before. */
  close(code: number, reason: string): void {
    this.#flush();
    this.#ws?.close(code, reason);
  }

  #flush(): void {
    const small = this.#small;
    if (small.length === 0) return;
    this.#small = [];
    const done = () => small.forEach((one) => one.done());
    // `ws` answers a close frame at once, and nothing may come behind that.
    if (this.#ws?.readyState === OPEN) {
      this.#socket?.write(small.length === 1 ? small[0]!.frame : concatenate(small.map(({ frame }) => frame)), done);
    } else done();
  }

  /** Ends what there is of it. */
  async end(): Promise<void> {
    if (this.#socket === undefined || this.#socket.closed) return;
    this.#socket.destroy();
    await this.#gone.promise;
  }
}

function refusal({ statusCode, headers }: WsResponse): DialError {
  const reason = headers[REJECTION_HEADER];
  const known = REJECTION_REASONS.find((one): one is RejectionReason => one === reason);
  return new DialError("upgrade refused", statusCode, known);
}
