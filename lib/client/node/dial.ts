import type { Socket } from "node:net";
import { type DialError, errorCause, saysOnlyHowHttp2Went, saysOnlyThatItFailed, statusCause } from "../dial_cause.ts";
import { upgradeStatus } from "../upgrade_status.ts";

/** One attempt to open a WebSocket, watched for the reason why it fails. */
export interface Dial extends Disposable {
  /** @param make Makes the WebSocket that is watched; called at once, and once. */
  open(make: () => WebSocket): WebSocket;
  /** @param said What the platform's error event said. */
  cause(said: string): Promise<string>;
  /** Ends the TCP connection where it can be reached, however the other side behaves. Harmless when it has ended. */
  drop(): void;
}

/** What the diagnostics channels of Node.js tell of a request, as far as it is of interest. */
interface RequestEvent {
  readonly request: { readonly origin?: unknown; readonly path?: unknown; readonly upgrade?: unknown };
  /** Of `sendHeaders`. */
  readonly socket?: Socket;
  readonly response?: { readonly statusCode: number };
  readonly error?: DialError;
}

type Channels = typeof import("node:diagnostics_channel");

const CHANNELS = [
  "undici:request:create",
  "undici:client:sendHeaders",
  "undici:request:headers",
  "undici:request:error",
];
const SWITCHING_PROTOCOLS = 101;
/** How long the second look may take. */
const PROBE_TIMEOUT_MS = 1_000;

/**
 * Node.js says of a failure only "network error or non-101 status code", in its diagnostics channels it says which. Deno
 * and Bun say enough, but for a TCP connection that did not come about, and Deno for an upgrade over TLS: those are tried
 * a second time.
 *
 * @param target A `ws:` or `wss:` URL.
 * @param headers As they are sent with the upgrade.
 */
export async function watchDial(target: URL, headers: Readonly<Record<string, string>>): Promise<Dial> {
  const { process } = globalThis as { process?: { versions?: { node?: string; bun?: string } } };
  if ("Deno" in globalThis || process?.versions?.node === undefined || process.versions.bun !== undefined) {
    return new PlainDial(target, headers);
  }
  return new NodeDial(target, headers, await import("node:diagnostics_channel"));
}

class PlainDial implements Dial {
  readonly #target: URL;
  readonly #headers: Readonly<Record<string, string>>;

  constructor(target: URL, headers: Readonly<Record<string, string>>) {
    this.#target = target;
    this.#headers = headers;
  }

  open(make: () => WebSocket): WebSocket {
    return make();
  }

  async cause(said: string): Promise<string> {
    if (saysOnlyHowHttp2Went(said)) {
      const status = await upgradeStatus(this.#target, this.#headers, PROBE_TIMEOUT_MS);
      if (status !== undefined && status !== SWITCHING_PROTOCOLS) return statusCause(status);
    }
    const error = saysOnlyThatItFailed(said) ? await tcpError(this.#target) : undefined;
    return errorCause(error ?? { message: said });
  }

  drop(): void {}

  [Symbol.dispose](): void {}
}

/** Each request belongs to the attempt that saw it first, among those for the same URL: to the one that made it. */
const claimed = new WeakSet<object>();

class NodeDial extends PlainDial {
  readonly #channels: Channels;
  readonly #origin: string;
  readonly #path: string;
  readonly #listener = (message: unknown) => this.#hear(message as RequestEvent);
  #request: RequestEvent["request"] | undefined;
  #socket: Socket | undefined;
  #cause: string | undefined;

  constructor(target: URL, headers: Readonly<Record<string, string>>, channels: Channels) {
    super(target, headers);
    this.#channels = channels;
    this.#origin = `${target.protocol === "wss:" ? "https" : "http"}://${target.host}`;
    this.#path = target.pathname + target.search;
  }

  override open(make: () => WebSocket): WebSocket {
    for (const name of CHANNELS) this.#channels.subscribe(name, this.#listener);
    return make();
  }

  override async cause(said: string): Promise<string> {
    return this.#cause ?? await super.cause(said);
  }

  override drop(): void {
    this.#socket?.destroy();
  }

  override [Symbol.dispose](): void {
    for (const name of CHANNELS) this.#channels.unsubscribe(name, this.#listener);
  }

  #hear({ request, socket, response, error }: RequestEvent): void {
    if (this.#request === undefined && this.#isOurs(request)) {
      claimed.add(request);
      this.#request = request;
    }
    if (request !== this.#request) return;
    if (socket !== undefined) this.#socket = socket;
    // An answer that switches protocols is no reason: what is wrong with it is told next.
    if (response !== undefined && response.statusCode !== SWITCHING_PROTOCOLS) {
      this.#cause ??= statusCause(response.statusCode);
    }
    if (error !== undefined) this.#cause ??= errorCause(error);
  }

  #isOurs(request: RequestEvent["request"]): boolean {
    return request.upgrade === "websocket" && request.origin === this.#origin && request.path === this.#path &&
      !claimed.has(request);
  }
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
