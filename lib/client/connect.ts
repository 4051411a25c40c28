import { ExecError } from "../errors.ts";
import type { Connection } from "../rpc/connection.ts";
import { websocketConnection } from "../rpc/websocket.ts";

export interface WebSocketOptions {
  /** What a server with `--ws-auth` wants to see: the capability token, or a signed one. */
  readonly token?: string;
  /** Gives up the attempt. */
  readonly signal?: AbortSignal;
}

/** Deno's own constructor takes headers; the web's type, which some type checks see instead, does not say so. */
const WebSocketWithHeaders = WebSocket as unknown as new (
  url: string,
  options: { headers?: Record<string, string> },
) => WebSocket;

/**
 * Opens a WebSocket to an exec-server.
 *
 * @param url `ws://` or `wss://`.
 * @throws {ExecError} `disconnected` if the server cannot be reached or refuses the connection.
 */
export async function connectWebSocket(url: string, options: WebSocketOptions = {}): Promise<Connection> {
  const { token, signal } = options;
  signal?.throwIfAborted();
  const socket = new WebSocketWithHeaders(
    url,
    token === undefined ? {} : { headers: { authorization: `Bearer ${token}` } },
  );
  const { promise, resolve, reject } = Promise.withResolvers<void>();
  const abort = () => reject(signal?.reason);
  socket.onopen = () => resolve();
  socket.onerror = () => reject(new ExecError("disconnected", `failed to connect to exec-server websocket ${url}`));
  signal?.addEventListener("abort", abort, { once: true });
  try {
    await promise;
  } catch (error) {
    socket.close();
    throw error;
  } finally {
    socket.onopen = null;
    socket.onerror = null;
    signal?.removeEventListener("abort", abort);
  }
  return websocketConnection(socket, new URL(url).host);
}
