import { type DialError, errorCause, saysOnlyThatItFailed, statusCause } from "../dial_cause.ts";

/** One attempt to open a WebSocket, watched for the reason why it fails. */
export interface Dial extends Disposable {
  /** @param said What the platform's error event said. */
  cause(said: string): Promise<string>;
}

/** What the diagnostics channels tell of a request, as far as it is of interest. */
interface RequestEvent {
  readonly request: { readonly origin?: unknown; readonly path?: unknown; readonly upgrade?: unknown };
  readonly response?: { readonly statusCode: number };
  readonly error?: DialError;
}

/** How long the second look may take. */
const PROBE_TIMEOUT_MS = 1_000;

/**
 * Node.js says of a failure only "network error or non-101 status code", in its diagnostics channels it says which. Deno
 * and Bun say enough, but for a TCP connection that did not come about: that is tried a second time.
 *
 * @param target A `ws:` or `wss:` URL. Two attempts for the same one at the same time may be told each other's reason.
 */
export async function watchDial(target: URL): Promise<Dial> {
  let seen: string | undefined;
  const path = target.pathname + target.search;
  const origin = `${target.protocol === "wss:" ? "https" : "http"}://${target.host}`;
  const stop = await subscribe(({ request, response, error }) => {
    if (request.upgrade !== "websocket" || request.origin !== origin || request.path !== path) return;
    if (response !== undefined) seen ??= statusCause(response.statusCode);
    if (error !== undefined) seen ??= errorCause(error);
  });
  return {
    async cause(said) {
      if (seen !== undefined) return seen;
      const error = saysOnlyThatItFailed(said) ? await tcpError(target) : undefined;
      return errorCause(error ?? { message: said });
    },
    [Symbol.dispose]: stop,
  };
}

/** Only Node.js has these channels. */
async function subscribe(hear: (event: RequestEvent) => void): Promise<() => void> {
  const { process } = globalThis as { process?: { versions?: { node?: string; bun?: string } } };
  if ("Deno" in globalThis || process?.versions?.node === undefined || process.versions.bun !== undefined) {
    return () => {};
  }
  const channels = await import("node:diagnostics_channel");
  const names = ["undici:request:headers", "undici:request:error"];
  const listener = (message: unknown) => hear(message as RequestEvent);
  for (const name of names) channels.subscribe(name, listener);
  return () => {
    for (const name of names) channels.unsubscribe(name, listener);
  };
}

/** Why no TCP connection comes about; undefined: one does, or it takes too long to find out. */
async function tcpError({ protocol, hostname, port }: URL): Promise<DialError | undefined> {
  const { connect } = await import("node:net");
  const { promise, resolve } = Promise.withResolvers<DialError | undefined>();
  const socket = connect({
    // The brackets of an IPv6 address are a URL's alone.
    host: hostname.replace(/^\[(.*)\]$/, "$1"),
    port: Number(port || (protocol === "wss:" ? 443 : 80)),
    timeout: PROBE_TIMEOUT_MS,
  });
  socket.on("error", resolve);
  for (const end of ["connect", "timeout"]) socket.on(end, () => resolve(undefined));
  try {
    return await promise;
  } finally {
    socket.destroy();
  }
}
