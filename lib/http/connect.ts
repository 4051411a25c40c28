import { textToBytes } from "./bytes.ts";
import { HttpFailure } from "./failure.ts";
import type { Proxy } from "./proxy.ts";
import { readHead } from "./read_head.ts";
import type { Route } from "./route.ts";
import { Socket } from "./socket.ts";

/**
 * Opens a connection: to the peer, or to a proxy and through it; TLS included.
 *
 * @param caCerts Certificates, in PEM, that are trusted besides those of the platform; asked for TLS only.
 * @param signal Ends the attempt.
 */
export async function connect(
  { hostname, port, secure, proxy }: Route,
  caCerts: () => Promise<string[]>,
  signal: AbortSignal,
): Promise<Socket> {
  if (proxy?.secure && secure) {
    // The platform has no TLS within TLS.
    throw new HttpFailure("request", "https: URLs cannot be reached by way of an https: proxy");
  }
  const trusted = secure || proxy?.secure ? await caCerts() : [];
  const conn = await open(proxy?.hostname ?? hostname, proxy?.port ?? port, signal);
  if (proxy !== undefined && secure) {
    await tunnel(conn, proxy, hostname.includes(":") ? `[${hostname}]:${port}` : `${hostname}:${port}`, signal);
  }
  if (secure) return await secured(conn, hostname, trusted, signal);
  return proxy?.secure ? await secured(conn, proxy.hostname, trusted, signal) : new Socket(conn);
}

async function open(hostname: string, port: number, signal: AbortSignal): Promise<Deno.TcpConn> {
  const conn = await Deno.connect({ hostname, port, signal });
  // Whoever writes a head and then a body must not wait for the acknowledgement of the first.
  conn.setNoDelay(true);
  return conn;
}

/** Asks a proxy for a connection to `authority`; what is read and written behind that is the peer's. */
async function tunnel(conn: Deno.TcpConn, proxy: Proxy, authority: string, signal: AbortSignal): Promise<void> {
  const socket = new Socket(conn);
  await closedUnless(socket, signal, async () => {
    const credentials = proxy.authorization === undefined ? "" : `Proxy-Authorization: ${proxy.authorization}\r\n`;
    await socket.write(textToBytes(`CONNECT ${authority} HTTP/1.1\r\nHost: ${authority}\r\n${credentials}\r\n`));
    const { status } = await readHead(socket);
    if (status !== 200) throw new Error(`the proxy answered ${status}`);
    // The peer speaks second in TLS: this is neither its answer nor could it be handed on.
    if (socket.start < socket.end) throw new Error("the proxy said more than that there is a tunnel");
  });
}

async function secured(
  conn: Deno.TcpConn,
  hostname: string,
  caCerts: string[],
  signal: AbortSignal,
): Promise<Socket> {
  const cut = await cutter(conn);
  const tls = await startTls(conn, hostname, caCerts);
  const abandon = () => {
    cut();
    tls.close();
  };
  await closedUnless({ [Symbol.dispose]: abandon }, signal, () => tls.handshake());
  return new Socket(tls, cut);
}

/** Begins TLS, of which the platform refuses some names that others can resolve. */
async function startTls(conn: Deno.TcpConn, hostname: string, caCerts: string[]): Promise<Deno.TlsConn> {
  try {
    return await Deno.startTls(conn, { hostname, caCerts, alpnProtocols: ["http/1.1"] });
  } catch (error) {
    try {
      conn.close();
    } catch (closing) {
      // The platform may have ended it with its attempt.
      if (!(closing instanceof Deno.errors.BadResource)) throw closing;
    }
    throw error;
  }
}

/**
 * Ends what carries a TLS connection. Closing that connection is not enough while its peer is waited for: the runtime
 * goes on with a handshake and with what is left to be written, forever if the peer is silent. Where we have no other
 * way it is left at that.
 */
async function cutter({ localAddr, remoteAddr }: Deno.TcpConn): Promise<() => void> {
  if (Deno.build.os !== "linux") return () => {};
  const { shutDown } = await import("../linux/tcp.ts");
  return () => void shutDown(localAddr, remoteAddr);
}

/** Ends a connection as soon as `signal` says so, or when what is done with it fails. */
async function closedUnless(conn: Disposable, signal: AbortSignal, act: () => Promise<unknown>): Promise<void> {
  let closed = false;
  const close = () => {
    if (!closed) conn[Symbol.dispose]();
    closed = true;
  };
  signal.addEventListener("abort", close, { once: true });
  try {
    if (signal.aborted) close();
    await act();
    signal.throwIfAborted();
  } catch (error) {
    close();
    throw error;
  } finally {
    signal.removeEventListener("abort", close);
  }
}
