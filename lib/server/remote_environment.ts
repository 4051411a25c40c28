import { type Clock, waitingClock } from "../clock.ts";
import { type Log, silentLog } from "../log.ts";
import { harmless, noObserver, type Observer } from "../observer.ts";
import type { Credential, CredentialError } from "../relay/credential.ts";
import type { ExecutorOptions } from "../relay/executor.ts";
import type { Dial } from "../relay/relay_socket.ts";
import { ExecServer } from "./serve.ts";

/**
 * The headers of one request to the registry, made anew for each, or a credential that can do more than that. A function
 * may throw: an error whose `transient` is true is worth another attempt, after a while; any other one is final for a
 * registration.
 */
export type RemoteAuth =
  | Credential
  | ((signal: AbortSignal) => Readonly<Record<string, string>> | Promise<Readonly<Record<string, string>>>);

/** What an executor and a forwarder need. */
export interface RemoteOptions {
  /** Base URL of the registry; a path in it is kept. */
  readonly registry: string;
  readonly environmentId: string;
  readonly auth: RemoteAuth;
  /** Ends everything at once. */
  readonly signal: AbortSignal;
  /** Makes the requests to the registry; the platform's own unless given. */
  readonly fetch?: typeof fetch;
  /** Opens the WebSocket to the rendezvous; `npm:ws` unless given. */
  readonly dial?: Dial;
  /** Hears of registrations, connections, losses and refused handshakes, and never of a secret. */
  readonly log?: Log;
  readonly observer?: Observer;
  readonly clock?: Clock;
}

export interface RemoteEnvironmentOptions extends RemoteOptions {
  /** Serves the streams, and goes on when the environment has ended; one of its own unless given. */
  readonly server?: ExecServer;
  /** Of a server of its own, see `ServerOptions`. */
  readonly concurrentRequests?: number;
  readonly maxDetachedMs?: number;
}

export interface ForwardOptions extends RemoteOptions {
  /** The server: `ws://HOST:PORT` or `wss://HOST:PORT`, with a path and a query if it needs them. */
  readonly connect: string;
}

/**
 * Makes this process a remote environment: registers it, stays connected to the rendezvous that the registry names, and
 * serves each harness that the registry lets in. All of them share the sessions of one server. Resolves when the signal
 * is aborted; nothing is left open then, and the programs of a server of its own have ended.
 *
 * @throws {Error} The registration has failed for good; the message says why, and contains no credential.
 */
export async function runRemoteEnvironment(options: RemoteEnvironmentOptions): Promise<void> {
  const { signal } = options;
  if (signal.aborted) return;
  const run = await executor(options);
  using scope = new DisposableStack();
  const server = options.server ?? scope.use(await ExecServer.create(serverOptions(options)));
  // Programs end with the signal, and not only when the last request to the registry has.
  const endServer = () => scope.dispose();
  signal.addEventListener("abort", endServer, { once: true });
  try {
    await run((stream) => void server.serve(stream, "relay"));
  } finally {
    signal.removeEventListener("abort", endServer);
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

function serverOptions({ concurrentRequests, maxDetachedMs, log, observer }: RemoteEnvironmentOptions) {
  return {
    ...(concurrentRequests === undefined ? {} : { concurrentRequests }),
    ...(maxDetachedMs === undefined ? {} : { maxDetachedMs }),
    ...(log === undefined ? {} : { log }),
    ...(observer === undefined ? {} : { observer }),
  };
}

/**
 * Loads the relay, which nothing else does.
 *
 * @returns What runs an executor until its signal is aborted.
 * @throws {Error} The registry's URL or the environment's id is none.
 */
async function executor(options: RemoteOptions): Promise<(open: ExecutorOptions["open"]) => Promise<void>> {
  const { auth, fetch, signal, clock = waitingClock, log = silentLog } = options;
  const [{ runExecutor }, { Registry }, { StaticKeys }, { loadPrimitives }, { remoteLog }, credentials, dial] =
    await Promise.all([
      import("../relay/executor.ts"),
      import("../relay/registry.ts"),
      import("../relay/static_keys.ts"),
      import("../relay/load_primitives.ts"),
      import("../relay/remote_log.ts"),
      import("../relay/credential.ts"),
      options.dial ?? import("../relay/ws_socket.ts").then(({ wsDial }) => wsDial),
    ]);
  const registry = new Registry({
    url: options.registry,
    environmentId: options.environmentId,
    credential: typeof auth === "function" ? credentialOf(auth, credentials.CredentialError) : auth,
    clock,
    ...(fetch === undefined ? {} : { fetch }),
  });
  const primitives = await loadPrimitives();
  const events = remoteLog(log, harmless(options.observer ?? noObserver, log), clock);
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

function credentialOf(
  auth: Extract<RemoteAuth, (...args: never[]) => unknown>,
  Failure: typeof CredentialError,
): Credential {
  return {
    async headers(signal) {
      try {
        return await auth(signal);
      } catch (cause) {
        signal.throwIfAborted();
        const { message = String(cause), transient = false } = Object(cause) as {
          message?: string;
          transient?: unknown;
        };
        throw new Failure(message, transient === true, { cause });
      }
    },
  };
}
