import { type WebSocketConnection, websocketConnection } from "../rpc/websocket.ts";
import { abortable } from "../abortable.ts";
import type { Carrier, OpenedConnection, OpenOptions } from "./carrier.ts";
import { checkDuration } from "./check_duration.ts";
import { connectError, connectTimeout } from "./client_error.ts";
import { CONNECT_TIMEOUT_MS, RESUME_PAUSE_MS } from "./limits.ts";
import { type Dial, watchDial } from "./node/dial.ts";
import { type OpenSocket, platformSocket } from "./platform_socket.ts";
import { type Token, tokenText } from "./token_text.ts";
import { bearer, headersFor, type WebSocketHeaders, websocketUrl } from "./websocket_rules.ts";

export interface WebSocketCarrierOptions {
  /** Sent with every upgrade, also when a lost connection is resumed. Only to `wss://` or this machine. */
  readonly headers?: WebSocketHeaders;
  /**
   * Sent as the header `authorization: Bearer …`. A function is asked before every attempt, since a token may expire;
   * `tokenFile` makes one.
   */
  readonly token?: Token;
  /** For TCP, TLS and the upgrade together; 10 s. */
  readonly connectTimeoutMs?: number;
  /** In place of the platform's own WebSocket, where that takes no headers or is not there. */
  readonly openSocket?: OpenSocket;
}

/**
 * Plain connections to one WebSocket URL; a lost one can be followed by another. Nothing is checked before the first
 * attempt.
 */
export function websocketCarrier(url: string | URL, options: WebSocketCarrierOptions = {}): Carrier {
  return new WebSocketCarrier(String(url), options);
}

class WebSocketCarrier implements Carrier {
  readonly label: string;
  readonly resume = { pauseMs: () => RESUME_PAUSE_MS };
  readonly renewable = true;
  readonly #url: string;
  readonly #options: WebSocketCarrierOptions;

  constructor(url: string, options: WebSocketCarrierOptions) {
    this.label = `exec-server websocket ${url}`;
    this.#url = url;
    this.#options = options;
  }

  async open({ signal }: OpenOptions): Promise<OpenedConnection> {
    const { headers = {}, token, openSocket = platformSocket, connectTimeoutMs = CONNECT_TIMEOUT_MS } = this.#options;
    checkDuration("connectTimeoutMs", connectTimeoutMs);
    const target = websocketUrl(this.#url);
    // Nobody knows how long the caller's function takes, nor whether it ends.
    const authorization = token === undefined
      ? {}
      : bearer(await abortable(tokenText(token, "failed to configure exec-server websocket"), signal));
    const sent = headersFor(this.#url, { ...headers, ...authorization });
    using dial = await watchDial(target, sent);
    signal.throwIfAborted();
    const attempt = new Attempt(dial.open(() => openSocket(target.href, sent)), this.#url, dial);
    const connection = await attempt.opened(signal, connectTimeoutMs);
    return { connection, gone: connection.gone };
  }
}

/** One socket until it is open. */
class Attempt {
  readonly #socket: WebSocket;
  readonly #url: string;
  readonly #dial: Dial;

  constructor(socket: WebSocket, url: string, dial: Dial) {
    this.#socket = socket;
    this.#url = url;
    this.#dial = dial;
  }

  async opened(signal: AbortSignal, timeoutMs: number): Promise<WebSocketConnection> {
    const { promise, resolve, reject } = Promise.withResolvers<WebSocketConnection>();
    const giveUp = () => reject(signal.reason);
    const timer = setTimeout(() => reject(connectTimeout(this.#url, timeoutMs)), timeoutMs);
    signal.addEventListener("abort", giveUp, { once: true });
    // In this very moment: the first message may come with the next one.
    this.#socket.onopen = () => resolve(websocketConnection(this.#socket, this.#url, () => this.#dial.drop()));
    this.#socket.onerror = (event) => reject(new DialFailure("message" in event ? String(event.message) : ""));
    this.#socket.onclose = ({ code }) => reject(new DialFailure(`closed with code ${code}`));
    try {
      return await promise;
    } catch (error) {
      this.#socket.close();
      this.#dial.drop();
      if (!(error instanceof DialFailure)) throw error;
      throw connectError(this.#url, await this.#dial.cause(error.message), error);
    } finally {
      clearTimeout(timer);
      signal.removeEventListener("abort", giveUp);
    }
  }
}

/** What the platform says of an upgrade that failed. */
class DialFailure extends Error {}
