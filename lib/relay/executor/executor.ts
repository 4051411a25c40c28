import type { Clock } from "../../clock.ts";
import { type Backoff, type Random, reconnectBackoff, retryBackoff } from "../backoff.ts";
import { CredentialError } from "../credential.ts";
import type { RemoteEvents } from "../events.ts";
import { ExecutorStreams } from "./executor_streams.ts";
import { RECONNECT_RESET_MS, UPGRADE_TIMEOUT_MS } from "../limits.ts";
import { pause } from "../pause.ts";
import type { Primitives } from "../noise/primitives.ts";
import type { Registration, Registry } from "../registry/registry.ts";
import { RegistryError } from "../registry/registry_error.ts";
import { type Dial, DialError, type RelaySocket, type SocketEndReason } from "../socket/relay_socket.ts";
import type { StaticKeys } from "../noise/static_keys.ts";
import type { RelayStream } from "../stream/stream.ts";

/** What an executor asks its registry. */
export type ExecutorRegistry = Pick<Registry, "environmentId" | "register" | "validate">;

export interface ExecutorOptions {
  readonly registry: ExecutorRegistry;
  /** Those of this process, for all its registrations; wiped when the executor ends. */
  readonly keys: StaticKeys;
  readonly dial: Dial;
  readonly primitives: Primitives;
  readonly clock: Clock;
  readonly random: Random;
  readonly events: RemoteEvents;
  /** Ends the executor at once: no timer, socket or request is left when `runExecutor` has resolved. */
  readonly signal: AbortSignal;
  /** Takes a stream that was just opened, in this turn. Must not throw. */
  open(stream: RelayStream): void;
}

/**
 * The life of an executor: it registers, stays connected to the rendezvous, and hands on the streams that come. Resolves
 * when the signal is aborted.
 *
 * @throws {RegistryError | CredentialError} A registration has failed for good.
 */
export async function runExecutor(options: ExecutorOptions): Promise<void> {
  using _wiped = options.keys;
  try {
    await run(options);
  } catch (error) {
    if (!options.signal.aborted) throw error;
  }
}

async function run(options: ExecutorOptions): Promise<never> {
  const backoff = reconnectBackoff(options.random);
  let registration = await register(options);
  while (true) {
    const failure = await connect(options, registration, backoff);
    const afterMs = tellRetry(backoff, "rendezvous", failure, options);
    if (isUnwanted(failure)) registration = await register(options);
    await pause(options.clock, afterMs, options.signal);
  }
}

/** Why there is no connection any more, or none yet. */
type Failure = Pick<Parameters<NonNullable<RemoteEvents["retrying"]>>[0], "reason" | "status" | "rejection">;

/** Connects and serves what comes, as long as the connection lasts. */
async function connect(options: ExecutorOptions, registration: Registration, backoff: Backoff): Promise<Failure> {
  const { clock, events } = options;
  const begun = clock.now();
  let socket: RelaySocket;
  try {
    socket = await options.dial(registration.url, {
      headers: { "x-request-id": `req_${crypto.randomUUID().replaceAll("-", "")}` },
      signal: options.signal,
      timeoutMs: UPGRADE_TIMEOUT_MS,
    });
  } catch (error) {
    if (!(error instanceof DialError)) throw error;
    events.rendezvousConnect?.({ outcome: "error", durationMs: clock.now() - begun });
    const { failure, status, rejection } = error;
    return {
      reason: failure,
      ...(status === undefined ? {} : { status }),
      ...(rejection === undefined ? {} : { rejection }),
    };
  }
  const connected = clock.now();
  events.rendezvousConnect?.({ outcome: "success", durationMs: connected - begun });
  events.connected?.();
  const reason = await serve(socket, options, registration);
  options.signal.throwIfAborted();
  const lastedMs = clock.now() - connected;
  events.lost?.({ reason, lastedMs });
  if (lastedMs >= RECONNECT_RESET_MS) backoff.reset();
  return { reason };
}

async function serve(
  socket: RelaySocket,
  options: ExecutorOptions,
  { registrationId }: Registration,
): Promise<SocketEndReason> {
  const { registry, signal } = options;
  await using streams = new ExecutorStreams(silentAfter(signal, socket), {
    keys: options.keys,
    context: { environmentId: registry.environmentId, registrationId },
    primitives: options.primitives,
    clock: options.clock,
    events: options.events,
    host: {
      validate: (request, signal) => registry.validate(registrationId, request, signal),
      open: (stream) => options.open(stream),
    },
  });
  const stop = () => socket.close("at once");
  signal.addEventListener("abort", stop, { once: true });
  if (signal.aborted) stop();
  try {
    return await streams.ended;
  } finally {
    signal.removeEventListener("abort", stop);
  }
}

/**
 * The socket, except that nothing is sent any more once the signal is aborted: whoever ends the streams' conversations may
 * hear of it before we do, and the resets that this would cause are none of the peers' business. Source: the reference.
 */
function silentAfter(signal: AbortSignal, socket: RelaySocket): RelaySocket {
  return {
    start: (receiver) => socket.start(receiver),
    send(frame) {
      if (!signal.aborted) socket.send(frame);
    },
    get bufferedBytes() {
      return socket.bufferedBytes;
    },
    drainedTo: (bytes) => socket.drainedTo(bytes),
    close: (how) => socket.close(how),
    gone: socket.gone,
  };
}

/** The rendezvous has refused the upgrade by a status that says: not with this registration. */
function isUnwanted({ status }: Failure): boolean {
  return status !== undefined && status >= 400 && status < 500;
}

/** Registers; again and again while that certainly has not replaced a newer registration of somebody else. */
async function register(options: ExecutorOptions): Promise<Registration> {
  const { registry, keys, clock, events, signal } = options;
  const backoff = retryBackoff(options.random);
  while (true) {
    signal.throwIfAborted();
    const begun = clock.now();
    try {
      const registration = await registry.register(keys.public, signal);
      events.registration?.({ outcome: "success", durationMs: clock.now() - begun });
      events.registered?.({ environmentId: registry.environmentId });
      return registration;
    } catch (error) {
      signal.throwIfAborted();
      events.registration?.({ outcome: "error", durationMs: clock.now() - begun });
      const failure = transientFailure(error);
      if (failure === undefined) throw error;
      await pause(clock, tellRetry(backoff, "registration", failure, options), signal);
    }
  }
}

/** Why a registration may be tried again; nothing if it may not. */
function transientFailure(error: unknown): Failure | undefined {
  if (error instanceof CredentialError && error.transient) return { reason: "credential unavailable" };
  if (!(error instanceof RegistryError) || error.retry === undefined) return undefined;
  return { reason: error.retry, ...(error.status === undefined ? {} : { status: error.status }) };
}

/** @returns After how many milliseconds there will be another attempt. */
function tellRetry(
  backoff: Backoff,
  what: "registration" | "rendezvous",
  failure: Failure,
  { events }: ExecutorOptions,
): number {
  const afterMs = backoff.next();
  events.retrying?.({ what, afterMs, ...failure });
  return afterMs;
}
