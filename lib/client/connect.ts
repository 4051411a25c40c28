import { type ClientOptions, ExecClient } from "./client.ts";
import { websocketCarrier, type WebSocketCarrierOptions } from "./websocket_carrier.ts";

// One function per way to reach a server. Each makes a carrier and gives it to ExecClient.connect, which is also the
// place for a carrier that does not come from here, such as the relay's.

/**
 * Connects to the exec-server behind a WebSocket URL.
 *
 * @param url `ws://…` or `wss://…`; a token goes only to `wss://` and to this machine.
 * @throws {ClientError} Why there is no connection; nothing of it is left. Or the signal's reason.
 */
export function connect(
  url: string | URL,
  options: ClientOptions & WebSocketCarrierOptions = {},
): Promise<ExecClient> {
  return ExecClient.connect(websocketCarrier(url, options), options);
}
