import { isLoopback } from "../loopback.ts";
import { ClientError, connectError, protocolError } from "./client_error.ts";

export type WebSocketHeaders = Readonly<Record<string, string>>;

/** What the upgrade says by itself. Platforms leave a second one out, or send both. */
const OF_THE_UPGRADE = /^(host|connection|upgrade|content-length|transfer-encoding|sec-websocket-.*)$/;

/**
 * What the platform is to dial: the URL without its fragment, and without user name and password. Those are sent by some
 * platforms only, and then also in the clear; the reference sends none.
 *
 * @throws {ClientError} `connect` if it is no WebSocket URL, in the reference's words; `configuration` if the other side
 * would frame messages as the relay once did.
 */
export function websocketUrl(url: string): URL {
  if (!URL.canParse(url)) throw connectError(url, "IO error: invalid WebSocket URL");
  const target = new URL(url);
  if (!isWebSocket(target)) throw connectError(url, "URL error: URL scheme not supported");
  if (target.searchParams.getAll("role").includes("harness")) {
    throw new ClientError(
      "configuration",
      "failed to configure exec-server websocket: a URL with role=harness asks for the relay's unencrypted framing, " +
        "which is not supported: give the registry and the environment's id instead (connectRelay)",
    );
  }
  target.hash = target.username = target.password = "";
  return target;
}

function isWebSocket({ protocol }: URL): boolean {
  return protocol === "ws:" || protocol === "wss:";
}

/** The header that shows a token. */
export function bearer(token: string): WebSocketHeaders {
  return { authorization: `Bearer ${token}` };
}

/**
 * The headers as the platform takes them: names in lower case, values as the bytes of their UTF-8.
 *
 * @throws {ClientError} `protocol` if they would cross a network in the clear, or if one cannot be sent.
 */
export function headersFor(url: string, headers: WebSocketHeaders): Record<string, string> {
  const entries = Object.entries(headers);
  if (entries.length > 0 && !mayCarryHeaders(new URL(url))) {
    throw protocolError("exec-server WebSocket headers require wss:// or a loopback destination");
  }
  return Object.fromEntries(entries.map(([name, value]) => [headerName(name), headerValue(name, value)]));
}

function mayCarryHeaders({ protocol, hostname }: URL): boolean {
  return protocol === "wss:" || isLoopback(hostname);
}

function headerName(name: string): string {
  if (!/^[\w!#$%&'*+.^`|~-]+$/.test(name)) {
    throw protocolError(`invalid exec-server WebSocket header name ${JSON.stringify(name)}`);
  }
  const lower = name.toLowerCase();
  if (OF_THE_UPGRADE.test(lower)) {
    throw protocolError(`exec-server WebSocket header \`${lower}\` cannot be chosen: it belongs to the upgrade`);
  }
  return lower;
}

function headerValue(name: string, value: string): string {
  // deno-lint-ignore no-control-regex
  if (/[\0-\x08\x0a-\x1f\x7f]/.test(value)) {
    throw protocolError(`invalid value for exec-server WebSocket header \`${name.toLowerCase()}\``);
  }
  return Array.from(new TextEncoder().encode(value), (byte) => String.fromCharCode(byte)).join("");
}
