import { ExecError } from "../errors.ts";
import type { Connection } from "../rpc/connection.ts";
import { websocketConnection } from "../rpc/websocket.ts";

/**
 * Opens a WebSocket to an exec-server.
 *
 * @param url `ws://` or `wss://`.
 * @param signal Gives up the attempt.
 * @throws {ExecError} `disconnected` if the server cannot be reached or refuses the connection.
 */
export async function connectWebSocket(url: string, signal?: AbortSignal): Promise<Connection> {
  signal?.throwIfAborted();
  const socket = new WebSocket(url);
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
