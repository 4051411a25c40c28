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
   * @param done Called when the system has taken it or will not any more; at once if the socket is being closed.
   */
  send(opcode: number, payload: Uint8Array<ArrayBuffer>, fin: boolean, done: () => void): void;
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
  const ws = dialled(target.origin, target.path, options, transport);

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
    const send: OpenedWs["send"] = (opcode, payload, fin, done) => {
      if (ws.readyState === OPEN) transport.send(opcode, payload, fin, done);
      else done();
    };
    return { ws, gone: transport.gone, send };
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
): WsSocket {
  try {
    return new DroppingWebSocket(origin, [], {
      headers,
      perMessageDeflate: false,
      followRedirects: false,
      maxPayload: maxMessageBytes,
      closeTimeout: closeTimeoutMs,
      rejectUnauthorized: true,
      finishRequest(request) {
        request.path = path;
        request.on("socket", (socket) => transport.is(socket));
        request.end();
      },
    });
  } catch (error) {
    throw new DialError("unusable url", undefined, undefined, { cause: error });
  }
}

const OPEN = 1;

/** The connection below a WebSocket, from when there is one. */
class Transport {
  readonly #masks = new Masks();
  readonly #gone = Promise.withResolvers<void>();
  #socket: WsTransport | undefined;

  get gone(): Promise<void> {
    return this.#gone.promise;
  }

  is(socket: WsTransport): void {
    this.#socket = socket;
    socket.setNoDelay(true);
    socket.once("close", () => this.#gone.resolve());
  }

  /** Frames of `ws` itself, pings and the like, are written at once and whole: none gets into another. */
  send(opcode: number, payload: Uint8Array<ArrayBuffer>, fin: boolean, done: () => void): void {
    this.#socket?.write(clientFrame(opcode, payload, fin, this.#masks.next()), done);
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
