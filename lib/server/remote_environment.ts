import { type Clock, waitingClock } from "../clock.ts";
import { type Log, silentLog } from "../log.ts";
import { harmless, noObserver, type Observer } from "../observer.ts";
import { systemBackend } from "../process/backend.ts";
import type { ProcessBackend } from "../process/child.ts";
import type { Credential, RequestSigner } from "../relay/credential.ts";
import type { RemoteEvents } from "../relay/events.ts";
import type { ExecutorOptions } from "../relay/executor/executor.ts";
import type { Dial } from "../relay/socket/relay_socket.ts";
import type { remoteLog } from "../relay/remote_log.ts";
import type { SandboxChoice } from "../sandbox/sandbox.ts";
import { ExecServer } from "./serve.ts";

/**
 * The headers of one request to the registry, made anew for each, or a credential that can do more than that. A function
 * may throw: an error whose `transient` is true is worth another attempt, after a while; any other one is final for a
 * registration.
 */
export type RemoteAuth =
  | Credential
  | ((signal: AbortSignal) => Readonly<Record<string, string>> | Promise<Readonly<Record<string, string>>>);

interface RegistryOptions {
  /** Base URL of the registry; a path in it is kept. */
  readonly registry: string;
  readonly environmentId: string;
  /** Ends everything at once. */
  readonly signal: AbortSignal;
  /** Makes the requests to the registry; the platform's own unless given. */
  readonly fetch?: typeof fetch;
  /** Hears of registrations, connections, losses and refused handshakes, and never of a secret. */
  readonly log?: Log;
  readonly observer?: Observer;
  readonly clock?: Clock;
}

/** What an executor and a forwarder need for the relay. */
export interface RelayOptions extends RegistryOptions {
  readonly auth: RemoteAuth;
  /** Opens the WebSocket to the rendezvous; `npm:ws` unless given. */
  readonly dial?: Dial;
}

/** What the direct transport needs instead: no relay, and requests that are signed. */
export interface DirectOptions extends RegistryOptions {
  readonly signer: RequestSigner;
}

/** Who answers. */
export interface ServingOptions {
  /** Serves what comes, and goes on when the environment has ended; a server of its own unless given. */
  readonly server?: ExecServer;
  /** Of a server of its own, see `ServerOptions`. */
  readonly concurrentRequests?: number;
  readonly maxDetachedMs?: number;
  readonly sandbox?: SandboxChoice;
}

/** With `auth` harnesses come through the relay; with `signer` the service itself is the only one. */
export type RemoteEnvironmentOptions = ServingOptions & (RelayOptions | DirectOptions);

export interface ForwardOptions extends RelayOptions {
  /** The server: `ws://HOST:PORT` or `wss://HOST:PORT`, with a path and a query if it needs them. */
  readonly connect: string;
}

/**
 * Makes this process a remote environment: registers it, stays connected to where the registry says, and serves each
 * harness that the registry lets in. All of them share the sessions of one server. Resolves when the signal is aborted;
 * nothing is left open then, and the programs of a server of its own have ended.
 *
 * @throws {Error} The registration has failed for good; the message says why, and contains no credential.
 */
export async function runRemoteEnvironment(options: RemoteEnvironmentOptions): Promise<void> {
  const { signal } = options;
  if (signal.aborted) return;
  const run = "signer" in options ? await direct(options) : await relay(options);
  await using own = options.server === undefined ? await ownServer(options) : undefined;
  const server = options.server ?? own!.server;
  // Programs end with the signal, and not only when the last request to the registry has.
  const end = () => own?.end();
  signal.addEventListener("abort", end, { once: true });
  try {
    await run((connection, transport) => server.serve(connection, transport));
  } finally {
    signal.removeEventListener("abort", end);
  }
}

/**
 * Makes a server that runs already a remote environment: hands each stream on to a WebSocket of its own to the server,
 * unread. Resolves when the signal is aborted; nothing is left open then.
 *
 * @throws {Error} As {@linkcode runRemoteEnvironment}, or `connect` is no WebSocket URL.
 */
export async function runForward(options: ForwardOptions): Promise<void> {
  if (options.signal.aborted) return;
  const [run, { forwardDestination, Forwarder }] = await Promise.all([
    executor(options),
    import("../relay/forward.ts"),
  ]);
  await using forwarder = new Forwarder({
    url: forwardDestination(options.connect),
    clock: options.clock ?? waitingClock,
    log: options.log ?? silentLog,
  });
  await run((stream) => forwarder.open(stream));
}

type Serve = ExecServer["serve"];

async function relay(options: RelayOptions): Promise<(serve: Serve) => Promise<void>> {
  const run = await executor(options);
  return (serve) => run((stream) => void serve(stream, "relay"));
}

/** @throws {Error} The registry's URL or the environment's id is none. */
async function direct(options: DirectOptions): Promise<(serve: Serve) => Promise<void>> {
  const { signer, fetch, signal, clock = waitingClock } = options;
  const [{ runDirect }, { DirectRegistry }, { remoteLog }] = await Promise.all([
    import("../relay/direct/direct.ts"),
    import("../relay/registry/registry_direct.ts"),
    import("../relay/remote_log.ts"),
  ]);
  const registry = new DirectRegistry({
    url: options.registry,
    environmentId: options.environmentId,
    signer,
    clock,
    ...(fetch === undefined ? {} : { fetch }),
  });
  const events = eventsOf(options, remoteLog, "the service");
  return (serve) =>
    runDirect({
      registry,
      signer,
      clock,
      random: Math.random,
      events,
      signal,
      serve: (connection) => serve(connection, "websocket"),
    });
}

/** A server of the environment's own; leaving its scope waits until nothing of its programs is left. */
async function ownServer(
  { concurrentRequests, maxDetachedMs, sandbox, log = silentLog, observer }: ServingOptions & RegistryOptions,
): Promise<AsyncDisposable & { readonly server: ExecServer; end(): void }> {
  await using resources = new AsyncDisposableStack();
  // Where a backend can only end and not wait, there is nothing to wait for.
  const backend: ProcessBackend & Disposable & Partial<AsyncDisposable> = await systemBackend(log);
  resources.defer(() => backend[Symbol.asyncDispose]?.() ?? backend[Symbol.dispose]());
  const server = await ExecServer.create({
    backend,
    log,
    ...(concurrentRequests === undefined ? {} : { concurrentRequests }),
    ...(maxDetachedMs === undefined ? {} : { maxDetachedMs }),
    ...(sandbox === undefined ? {} : { sandbox }),
    ...(observer === undefined ? {} : { observer }),
  });
  let ended = false;
  const end = () => {
    if (!ended) server[Symbol.dispose]();
    ended = true;
  };
  resources.defer(end);
  const rest = resources.move();
  return { server, end, [Symbol.asyncDispose]: () => rest.disposeAsync() };
}

/**
 * Loads the relay, which nothing else does.
 *
 * @returns What runs an executor until its signal is aborted.
 * @throws {Error} The registry's URL or the environment's id is none.
 */
async function executor(options: RelayOptions): Promise<(open: ExecutorOptions["open"]) => Promise<void>> {
  const { auth, fetch, signal, clock = waitingClock } = options;
  const [{ runExecutor }, { Registry }, { StaticKeys }, { loadPrimitives }, { remoteLog }, credentials, dial] =
    await Promise.all([
      import("../relay/executor/executor.ts"),
      import("../relay/registry/registry.ts"),
      import("../relay/noise/static_keys.ts"),
      import("../relay/noise/load_primitives.ts"),
      import("../relay/remote_log.ts"),
      import("../relay/credential.ts"),
      options.dial ?? import("../relay/socket/ws_socket.ts").then(({ wsDial }) => wsDial),
    ]);
  const registry = new Registry({
    url: options.registry,
    environmentId: options.environmentId,
    credential: typeof auth === "function" ? credentialOf(auth, credentials) : auth,
    clock,
    ...(fetch === undefined ? {} : { fetch }),
  });
  const primitives = await loadPrimitives();
  const events = eventsOf(options, remoteLog);
  return async (open) =>
    await runExecutor({
      registry,
      keys: await StaticKeys.generate(primitives),
      dial,
      primitives,
      clock,
      random: Math.random,
      events,
      signal,
      open,
    });
}

function eventsOf(
  { log = silentLog, observer = noObserver, clock = waitingClock }: RegistryOptions,
  toEvents: typeof remoteLog,
  peer?: string,
): RemoteEvents {
  return toEvents(log, harmless(observer, log), clock, peer);
}

function credentialOf(
  auth: Extract<RemoteAuth, (...args: never[]) => unknown>,
  { CredentialError, headersDefect }: typeof import("../relay/credential.ts"),
): Credential {
  return {
    async headers(signal) {
      let headers: Awaited<ReturnType<typeof auth>>;
      try {
        headers = await auth(signal);
      } catch (cause) {
        signal.throwIfAborted();
        const { message = String(cause), transient = false } = Object(cause) as {
          message?: string;
          transient?: unknown;
        };
        throw new CredentialError(message, transient === true, { cause });
      }
      const defect = headersDefect(headers);
      if (defect !== undefined) throw new CredentialError(defect);
      return headers;
    },
  };
}
