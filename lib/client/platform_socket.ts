import { ClientError } from "./client_error.ts";

/** Makes a WebSocket that begins to open. @param headers May be empty; names in lower case, values as byte strings. */
export type OpenSocket = (url: string, headers: Readonly<Record<string, string>>) => WebSocket;

/**
 * The platform's own WebSocket.
 *
 * @throws {ClientError} `configuration` if there is none, or none that takes the headers.
 */
export function platformSocket(url: string, headers: Readonly<Record<string, string>>): WebSocket {
  const { WebSocket } = globalThis as { WebSocket?: typeof globalThis.WebSocket };
  if (WebSocket === undefined) throw refusal("this platform has no WebSocket (Node.js has one from version 22 on)");
  if (Object.keys(headers).length === 0) return new WebSocket(url);
  if (!takesHeaders()) throw refusal("this platform's WebSocket sends no headers, so it can show no token");
  const WithHeaders = WebSocket as unknown as new (url: string, options: { headers: object }) => WebSocket;
  return new WithHeaders(url, { headers });
}

/** Deno, Node.js and Bun take them as the second argument; a browser would take that for a list of subprotocols. */
function takesHeaders(): boolean {
  const { process } = globalThis as { process?: { versions?: { node?: string } } };
  return "Deno" in globalThis || process?.versions?.node !== undefined;
}

function refusal(why: string): ClientError {
  return new ClientError("configuration", `failed to configure exec-server websocket: ${why}`);
}
