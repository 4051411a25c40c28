import type { Clock } from "../../clock.ts";
import type { Connection, ConnectionEnd } from "../../rpc/connection.ts";
import { type Backoff, type Random, retryBackoff } from "../backoff.ts";
import { CredentialError, type RequestSigner } from "../credential.ts";
import { abortable } from "../../abortable.ts";
import type { RemoteEvents } from "../events.ts";
import { UPGRADE_TIMEOUT_MS } from "../limits.ts";
import { pause } from "../pause.ts";
import { dialPlain, type PlainSocket } from "../socket/plain_socket.ts";
import type { DirectRegistration } from "../registry/registry_direct.ts";
import { withoutCredential } from "../registry/registry_exchange.ts";
import { DialError, SOCKET_END_REASONS, type SocketEndReason } from "../socket/relay_socket.ts";
import { statusText } from "../registry/status_text.ts";
import { websocketTarget } from "../socket/websocket_target.ts";

export interface DirectOptions {
  readonly registry: {
    readonly environmentId: string;
    /** @throws {RegistryError} Always final. Or the signal's reason. */
    register(signal: AbortSignal): Promise<DirectRegistration>;
  };
  /** Signs the upgrade. */
  readonly signer: RequestSigner;
  readonly clock: Clock;
  readonly random: Random;
  readonly events: RemoteEvents;
  /** Ends everything at once: no timer, socket or request is left when `runDirect` has resolved. */
  readonly signal: AbortSignal;
  /** In place of a WebSocket. */
  readonly dial?: typeof dialPlain;
  /** Serves one connection; resolves when it has ended. */
  serve(connection: Connection): Promise<ConnectionEnd>;
}

/** Why there is no connection any more, or none yet. */
type Failure = Pick<Parameters<NonNullable<RemoteEvents["retrying"]>>[0], "reason" | "status">;

const CONFLICT = 409;
/** These say: not now. Other 4xx say: not at all. */
const PASSING = [408, CONFLICT, 429];

/**
 * The life of an executor without a relay: it registers, connects to where the registry says, and is spoken to there in
 * JSON-RPC as it is. Resolves when the signal is aborted.
 *
 * @throws {Error} A registration has failed, or the other end does not want us; the message contains no secret.
 */
export async function runDirect(options: DirectOptions): Promise<void> {
  try {
    await run(options);
  } catch (error) {
    if (!options.signal.aborted) throw error;
  }
}

async function run(options: DirectOptions): Promise<never> {
  const { clock, events, signal } = options;
  const backoff = retryBackoff(options.random);
  let { url } = await register(options);
  while (true) {
    const failure = await connect(options, url, backoff);
    const afterMs = backoff.next();
    events.retrying?.({ what: "direct connection", afterMs, ...failure });
    // Somebody else has taken the place meanwhile, with a registration of their own.
    if (failure.status === CONFLICT) ({ url } = await register(options));
    await pause(clock, afterMs, signal);
  }
}

/** Once: a registration is never repeated here. */
async function register({ registry, clock, events, signal }: DirectOptions): Promise<DirectRegistration> {
  signal.throwIfAborted();
  const begun = clock.now();
  try {
    const registration = await registry.register(signal);
    events.registration?.({ outcome: "success", durationMs: clock.now() - begun });
    events.registered?.({ environmentId: registry.environmentId });
    return registration;
  } catch (error) {
    if (!signal.aborted) events.registration?.({ outcome: "error", durationMs: clock.now() - begun });
    throw error;
  }
}

/** Connects and has the connection served, as long as it lasts. @throws There is no use in trying again. */
async function connect(options: DirectOptions, url: string, backoff: Backoff): Promise<Failure> {
  const { clock, events, signal } = options;
  const begun = clock.now();
  let socket: PlainSocket;
  try {
    socket = await dial(options, url);
  } catch (error) {
    signal.throwIfAborted();
    events.rendezvousConnect?.({ outcome: "error", durationMs: clock.now() - begun });
    return passing(error, url);
  }
  backoff.reset();
  const connected = clock.now();
  events.rendezvousConnect?.({ outcome: "success", durationMs: connected - begun });
  events.connected?.();
  const reason = await serve(options, socket);
  signal.throwIfAborted();
  events.lost?.({ reason, lastedMs: clock.now() - connected });
  return { reason };
}

/** @throws {DialError | CredentialError} Or the signal's reason. */
async function dial({ signer, signal, clock, dial = dialPlain }: DirectOptions, url: string): Promise<PlainSocket> {
  const target = websocketTarget(url);
  if (target === undefined) throw new DialError("unusable url");
  // Exactly what the upgrade asks for.
  const signed = target.origin + target.path;
  const request = { method: "GET", url: signed, headers: {}, body: new Uint8Array() } as const;
  const headers = await abortable(signer.sign(request, signal), signal);
  const label = `exec-server websocket ${target.origin}`;
  // Ours: the reference sends no pings here, and would not notice that the other end has gone without a word.
  return await dial(url, { headers, signal, clock, label, timeoutMs: UPGRADE_TIMEOUT_MS, keepalive: true });
}

/** What may be different the next time. @throws {Error} What will not. */
function passing(error: unknown, url: string): Failure {
  if (error instanceof CredentialError) {
    if (error.transient) return { reason: "credential unavailable" };
    throw withoutCredential(error);
  }
  if (!(error instanceof DialError)) throw error;
  const { failure, status } = error;
  const isFinal = status !== undefined && status >= 400 && status < 500 && !PASSING.includes(status);
  if (failure !== "unusable url" && !isFinal) return { reason: failure, ...(status === undefined ? {} : { status }) };
  const why = status === undefined ? failure : `HTTP error: ${statusText(status)}`;
  throw new Error(`failed to connect to exec-server websocket \`${shownUrl(url)}\`: ${why}`, { cause: error });
}

/** Without query, user name and password. */
function shownUrl(url: string): string {
  const parsed = URL.parse(url);
  return parsed === null ? "" : `${parsed.protocol}//${parsed.host}${parsed.pathname}`;
}

async function serve({ signal, serve }: DirectOptions, socket: PlainSocket): Promise<SocketEndReason> {
  const drop = () => socket.drop();
  signal.addEventListener("abort", drop, { once: true });
  if (signal.aborted) drop();
  try {
    const { reason } = await serve(socket);
    // Else the conversation has ended it, for a reason of its own.
    return SOCKET_END_REASONS.find((known) => known === reason) ?? "closed by us";
  } finally {
    signal.removeEventListener("abort", drop);
    await socket.gone;
  }
}
