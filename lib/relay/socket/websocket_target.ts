/** Where a WebSocket URL points to. */
export interface WebSocketTarget {
  readonly secure: boolean;
  /** Without path, query and user information, e.g. `wss://rendezvous.example:8443`. */
  readonly origin: string;
  /** Path and query exactly as they stand in the URL, e.g. `/a/../b?role=executor`. */
  readonly path: string;
}

/**
 * Takes a WebSocket URL apart without changing its path and query: they are a signed capability, and the web's URL parser
 * would resolve dots and escape characters. A fragment is left out, and so are user name and password, which the
 * reference does not send either. Whether the port exists shows the dial.
 *
 * @returns Undefined if this is no URL of `ws:` or `wss:` with a host, or if its path or query has characters that no
 * request line can carry.
 */
export function websocketTarget(url: string): WebSocketTarget | undefined {
  const [whole, scheme, authority, rest] = URL_PARTS.exec(url) ?? [];
  if (whole === undefined || scheme === undefined || authority === undefined || rest === undefined) return undefined;
  if (!REQUEST_TARGET.test(rest)) return undefined;
  const host = authority.slice(authority.lastIndexOf("@") + 1);
  const origin = URL.parse(`${scheme}://${host}`);
  if (host === "" || origin === null || origin.pathname !== "/") return undefined;
  return {
    secure: origin.protocol === "wss:",
    origin: `${origin.protocol}//${origin.host}`,
    path: rest.startsWith("/") ? rest : `/${rest}`,
  };
}

const URL_PARTS = /^(wss?):\/\/([^/?#\\]*)((?:[/?][^#]*)?)(?:#|$)/i;
/** Printable ASCII without the space. */
const REQUEST_TARGET = /^[!-~]*$/;
