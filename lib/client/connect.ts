import { type ClientOptions, ExecClient } from "./client.ts";
import { commandCarrier } from "./command_carrier.ts";
import type { CommandOptions } from "./node/spawn_command.ts";
import { relayCarrier } from "./relay_carrier.ts";
import type { RelayCarrierOptions } from "./relay_options.ts";
import { websocketCarrier, type WebSocketCarrierOptions } from "./websocket_carrier.ts";

// One function per way to reach a server. Each makes a carrier and gives it to ExecClient.connect, which is also the
// place for a carrier that does not come from here.

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

/**
 * Starts an exec-server as a child of ours, to speak with it over its stdin and stdout. It ends with the client, and the
 * client with it: by the end of its stdin and SIGTERM for its process group, and by SIGKILL 2 s later. What it writes to
 * stderr is logged at the level `debug`.
 *
 * @throws {ClientError} Why there is no connection; nothing of it is left. Or the signal's reason.
 */
export function connectCommand(command: CommandOptions, options: ClientOptions = {}): Promise<ExecClient> {
  return ExecClient.connect(commandCarrier(command, options), options);
}

/**
 * Connects to an environment that is known to a registry, end-to-end encrypted through a rendezvous. Under Deno, Node.js
 * and Bun; what the relay needs is loaded then.
 *
 * @throws {ClientError} Why there is no connection; nothing of it is left. Or the signal's reason.
 */
export function connectRelay(relay: RelayCarrierOptions, options: ClientOptions = {}): Promise<ExecClient> {
  return ExecClient.connect(relayCarrier(relay), options);
}
