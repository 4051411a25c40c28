import type { Log } from "../log.ts";
import { originFlaw } from "../origin.ts";
import type { Connection } from "../rpc/connection.ts";
import { websocketConnection } from "../rpc/websocket.ts";
import type { Authorizer } from "./auth.ts";
import { distrustProxyHeaders, proxyHeadersSettled } from "./proxy_headers.ts";
import { withoutServeAddress } from "./serve_address.ts";
import { askForVectoredWrites, vectoredWritesSettled } from "./vectored_writes.ts";

export interface ListenOptions {
  /** A literal IP address, IPv6 without brackets. Port 0 takes a free one. */
  readonly address: { readonly hostname: string; readonly port: number };
  /** Null: everyone who reaches the port may come in. */
  readonly authorize: Authorizer | null;
  /** Origins of web pages that may come in, letter by letter as browsers send them. Default: none. */
  readonly allowedOrigins?: readonly string[];
  readonly log: Log;
  /** Tells a peer at once that what it sent has arrived; see {@linkcode Connection.acknowledge}. It must not throw. */
  readonly acknowledge?: (peer: Deno.NetAddr) => void;
  /** Hears every connection once it is open; `start` may follow later, and soon. */
  onConnection(connection: Connection): void;
}

export interface Listener extends AsyncDisposable {
  /** `ws://IP:PORT` with the real port. */
  readonly url: string;
  /** Stops listening and drops every connection. */
  [Symbol.asyncDispose](): Promise<void>;
}

/**
 * A peer that sends nothing for half of this is pinged, one that then stays silent for the other half is given up.
 * The reference pings every 30 s too.
 */
const IDLE_TIMEOUT_SECONDS = 60;

/** How long to wait, in milliseconds, until the address is taken again after the platform has given it up. */
const RETRY_MS = 100;

/**
 * Listens for WebSocket connections.
 *
 * The platform stops listening for good when it cannot accept a connection, as when no descriptors are left. What is
 * connected lives on, so listening begins again as soon as it can.
 *
 * @throws {TypeError} If one of the allowed origins is none.
 * @throws {Error} If the address cannot be had, with the reference's sentence, e.g. `Address in use (os error 98)`.
 */
export function listen(options: ListenOptions): Listener {
  for (const origin of options.allowedOrigins ?? []) {
    const flaw = originFlaw(origin);
    if (flaw !== undefined) throw new TypeError(`cannot allow the origin ${JSON.stringify(origin)}: ${flaw}`);
  }
  const { hostname, port } = options.address;
  let server = serve(options, hostname, port);
  const { addr } = server;
  let retry: ReturnType<typeof setTimeout> | undefined;
  const { log } = options;
  const follow = ({ finished }: typeof server): void => {
    finished.catch((error) => {
      log.error("cannot accept connections", { error: describe(error) });
      retry = setTimeout(again, RETRY_MS);
    });
  };
  const again = (): void => {
    try {
      server = serve(options, hostname, addr.port);
    } catch (error) {
      log.debug("cannot listen again yet", { error: describe(error) });
      retry = setTimeout(again, RETRY_MS);
      return;
    }
    log.warn("listening again", { address: formatAddress(addr) });
    follow(server);
  };
  follow(server);
  return {
    url: `ws://${formatAddress(addr)}`,
    async [Symbol.asyncDispose]() {
      clearTimeout(retry);
      await server.shutdown();
    },
  };
}

/** @throws {Error} Like {@linkcode listen}. */
function serve(options: ListenOptions, hostname: string, port: number): Deno.HttpServer<Deno.NetAddr> {
  distrustProxyHeaders();
  try {
    return withoutServeAddress(() =>
      Deno.serve({
        hostname,
        port,
        automaticCompression: false,
        // Without these two the platform writes to stdout.
        onListen: () => {},
        onError: (error) => {
          options.log.error("request failed unexpectedly", { error: describe(error) });
          return new Response(null, { status: 500 });
        },
      }, (request, info) => {
        proxyHeadersSettled();
        return answer(options, request, info.remoteAddr);
      })
    );
  } catch (error) {
    throw new Error(listenFailure(error), { cause: error });
  }
}

/** Whether only programs on this machine can reach `hostname`, a literal IP address without brackets. */
export function isLoopback(hostname: string): boolean {
  return /^127\./.test(hostname) || hostname === "::1" || /^::ffff:127\./i.test(hostname);
}

/** The order of the checks is the reference's: origin, route, upgrade, authorization. */
function answer(options: ListenOptions, request: Request, peer: Deno.NetAddr): Response | Promise<Response> {
  // `has` has a side effect that is needed: Deno then keeps the headers. It wants them again after an upgrade, when it
  // could no longer read them, and an upgrade that fails in the wrong moment would end the whole process.
  if (request.headers.has("origin") && !isAllowed(options, request.headers.get("origin"))) {
    return new Response(null, { status: 403 });
  }
  const path = pathOf(request);
  if (path === "/readyz") {
    // Not every version of the platform says to HEAD by itself how much there is: Deno 2.4 does not.
    if (request.method === "GET" || request.method === "HEAD") {
      return new Response(null, { status: 200, headers: { "content-length": "0" } });
    }
    return new Response(null, { status: 405, headers: { allow: "GET,HEAD" } });
  }
  if (path !== "/") return new Response(null, { status: 404 });
  if (request.method !== "GET") return refusal(405, "Request method must be `GET`");
  const flaw = upgradeFlaw(request.headers);
  if (flaw !== undefined) return refusal(400, flaw);
  if (options.authorize === null) return upgrade(options, request, peer);
  return options.authorize(request.headers.get("authorization")).then((reason) => {
    if (reason === undefined) return upgrade(options, request, peer);
    options.log.info("connection refused", { peer: formatAddress(peer), reason });
    return refusal(401, reason);
  });
}

/** Repeated headers arrive joined, and are none of the origins. */
function isAllowed({ allowedOrigins = [] }: ListenOptions, origin: string | null): boolean {
  return origin !== null && allowedOrigins.includes(origin);
}

/** The path as it was sent: `URL` would turn `/./readyz` and `/x/../readyz` into `/readyz`. */
function pathOf({ url, method }: Request): string {
  const path = url.match(/^[^:]*:\/\/[^/?#]*([^?#]*)/)?.[1] ?? "";
  return path === "" && method !== "CONNECT" ? "/" : path;
}

/** What keeps this from being a WebSocket upgrade, in the reference's words. */
function upgradeFlaw(headers: Headers): string | undefined {
  if (!tokens(headers.get("connection")).includes("upgrade")) return "Connection header did not include 'upgrade'";
  if (headers.get("upgrade")?.toLowerCase() !== "websocket") return "`Upgrade` header did not include 'websocket'";
  // The reference looks at the first of repeated headers, which the platform hands over joined.
  if (tokens(headers.get("sec-websocket-version"))[0] !== "13") {
    return "`Sec-WebSocket-Version` header did not include '13'";
  }
  if (!headers.has("sec-websocket-key")) return "`Sec-WebSocket-Key` header missing";
  return undefined;
}

function tokens(header: string | null): string[] {
  return (header ?? "").toLowerCase().split(",").map((token) => token.trim());
}

function refusal(status: number, body: string): Response {
  return new Response(body, { status, headers: { "content-type": "text/plain; charset=utf-8" } });
}

function upgrade({ onConnection, log, acknowledge }: ListenOptions, request: Request, peer: Deno.NetAddr): Response {
  askForVectoredWrites();
  const { socket, response } = Deno.upgradeWebSocket(request, { idleTimeout: IDLE_TIMEOUT_SECONDS });
  const connection: Connection = websocketConnection(socket, formatAddress(peer));
  if (acknowledge !== undefined) connection.acknowledge = () => acknowledge(peer);
  socket.onopen = () => {
    vectoredWritesSettled();
    try {
      onConnection(connection);
    } catch (error) {
      log.error("connection failed unexpectedly", { peer: connection.label, error: describe(error) });
      connection.close(1011, "internal error");
    }
  };
  return response;
}

function formatAddress({ hostname, port }: Deno.NetAddr): string {
  return hostname.includes(":") ? `[${hostname}]:${port}` : `${hostname}:${port}`;
}

/** The sentences of the reference's C library, where they differ from those of the usual one. */
const OS_ERRORS: ReadonlyMap<number, string> = new Map([
  [24, "No file descriptors available"],
  [98, "Address in use"],
  [99, "Address not available"],
]);

function listenFailure(error: unknown): string {
  const message = describe(error);
  const code = message.match(/\(os error (\d+)\)/)?.[1];
  const text = OS_ERRORS.get(Number(code));
  return text === undefined ? message : `${text} (os error ${code})`;
}

function describe(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
