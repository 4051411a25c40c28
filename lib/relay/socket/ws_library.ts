import WebSocket from "ws";

/** What we use of `ws`, which comes without types. */
export interface WsSocket {
  on(event: "open" | "pong", listener: () => void): this;
  on(event: "ping", listener: (data: Uint8Array) => void): this;
  on(event: "message", listener: (data: Uint8Array<ArrayBuffer>, isBinary: boolean) => void): this;
  on(event: "error", listener: (error: Error & { readonly code?: string }) => void): this;
  on(event: "close", listener: (code: number) => void): this;
  on(event: "unexpected-response", listener: (request: WsRequest, response: WsResponse) => void): this;
  /** 1: open. */
  readonly readyState: number;
  ping(): void;
  /** @param done Called when the system has taken it, or will not. */
  pong(data: Uint8Array, mask: boolean, done: () => void): void;
  close(code?: number, reason?: string | Uint8Array): void;
  /** Ends the TCP connection, with whatever was to be written. */
  terminate(): void;
  pause(): void;
  resume(): void;
}

/** The upgrade request of Node's `http`. */
export interface WsRequest {
  path: string;
  on(event: "socket", listener: (socket: WsTransport) => void): this;
  /** An answer of status 1xx other than 101, which others may follow. */
  on(event: "information", listener: (answer: Pick<WsResponse, "statusCode">) => void): this;
  prependListener(event: "upgrade", listener: (answer: WsResponse, socket: WsTransport) => void): this;
  end(): void;
}

/** The TCP or TLS connection. */
export interface WsTransport {
  readonly closed: boolean;
  setNoDelay(on: boolean): void;
  /** @param done Called when the system has taken the bytes, or with an error when it will not. */
  write(bytes: Uint8Array<ArrayBuffer>, done: (error?: Error | null) => void): void;
  once(event: "close", listener: () => void): this;
  destroy(): void;
}

/** The answer to an upgrade that is none. */
export interface WsResponse {
  readonly statusCode: number;
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
}

export interface WsOptions {
  readonly headers: Readonly<Record<string, string>>;
  readonly perMessageDeflate: false;
  /** Whether `ws` answers pings: each of them, and it ends the socket when 60 answers wait. */
  readonly autoPong: false;
  readonly followRedirects: false;
  /** Bytes of one message, whole or in fragments. */
  readonly maxPayload: number;
  /** How long the other side may take to answer a close frame, in milliseconds. */
  readonly closeTimeout: number;
  /** Also where the environment asks for the contrary. */
  readonly rejectUnauthorized: true;
  readonly finishRequest: (request: WsRequest) => void;
}

const Library = WebSocket as unknown as new (url: string, protocols: readonly string[], options: WsOptions) => WsSocket;

/**
 * Ends at a frame that it does not take without a word, as the reference does; `ws` would answer with a close frame.
 *
 * That it closes by its own is told from a close that answers the peer's by the number of arguments: the peer's code is
 * repeated together with its reason, or there was no code.
 */
export class DroppingWebSocket extends Library {
  override close(...args: [code?: number, reason?: string | Uint8Array]): void {
    if (args.length === 1) this.terminate();
    else super.close(...args);
  }
}
