import { Socket } from "./socket.ts";

/** Where a connection leads to. */
export interface Route {
  /** Equal for two routes that one connection can serve. */
  readonly key: string;
  readonly secure: boolean;
  /** Without the brackets of an IPv6 address. */
  readonly hostname: string;
  readonly port: number;
}

export function routeTo(url: URL): Route {
  const secure = url.protocol === "https:";
  const hostname = url.hostname.replace(/^\[(.*)\]$/, "$1");
  const port = url.port === "" ? (secure ? 443 : 80) : Number(url.port);
  return { key: `${url.protocol}//${url.hostname}:${port}`, secure, hostname, port };
}

/**
 * Opens a connection, TLS included.
 *
 * @param caCerts Certificates, in PEM, that are trusted besides those of the platform.
 * @param signal Ends the attempt.
 */
export async function connect(route: Route, caCerts: string[], signal: AbortSignal): Promise<Socket> {
  const { hostname, port } = route;
  const conn = await Deno.connect({ hostname, port, signal });
  // Whoever writes a head and then a body must not wait for the acknowledgement of the first.
  conn.setNoDelay(true);
  return new Socket(route.secure ? await secured(conn, hostname, caCerts, signal) : conn);
}

async function secured(
  conn: Deno.TcpConn,
  hostname: string,
  caCerts: string[],
  signal: AbortSignal,
): Promise<Deno.TlsConn> {
  const tls = await Deno.startTls(conn, { hostname, caCerts, alpnProtocols: ["http/1.1"] });
  const stop = () => tls.close();
  signal.addEventListener("abort", stop, { once: true });
  try {
    await tls.handshake();
    return tls;
  } catch (error) {
    if (!signal.aborted) tls.close();
    throw error;
  } finally {
    signal.removeEventListener("abort", stop);
  }
}
