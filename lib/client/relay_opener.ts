import { waitingClock } from "../clock.ts";
import type { TraceContext } from "../observer.ts";
import { requireSecure } from "../relay/registry/environment_url.ts";
import { openHarness } from "../relay/harness.ts";
import { RECONNECT_REQUEST_TIMEOUT_MS, REFRESH_TIMEOUT_MS } from "../relay/limits.ts";
import { loadPrimitives } from "../relay/noise/load_primitives.ts";
import type { Primitives } from "../relay/noise/primitives.ts";
import { encodePublicKeys } from "../relay/noise/public_key_json.ts";
import { Registry } from "../relay/registry/registry.ts";
import type { HarnessBundle } from "../relay/registry/registry.ts";
import { type Dial, DialError } from "../relay/socket/relay_socket.ts";
import { StaticKeys } from "../relay/noise/static_keys.ts";
import { wsDial } from "../relay/socket/ws_socket.ts";
import type { OpenedConnection, OpenOptions } from "./carrier.ts";
import { ClientError, protocolError } from "./client_error.ts";
import { CONNECT_TIMEOUT_MS, INITIALIZE_TIMEOUT_MS } from "./limits.ts";
import { firstBundle } from "./registry_lookup.ts";
import type { RelayCarrierOptions } from "./relay_options.ts";
import { dialFailure, harnessFailure, registryFailure } from "./relay_errors.ts";
import { harnessCredential } from "./harness_credential.ts";
import { shownUrl } from "./shown_url.ts";
import type { Attributes, Span } from "./telemetry.ts";

/** What a registry said, and the keys that it said it to. */
export interface FoundExecutor {
  readonly executor: string;
  readonly bundle: HarnessBundle;
  readonly keys: StaticKeys;
}

/** As much as one attempt needs of the client's options. */
type Attempt = Required<Pick<OpenOptions, "signal" | "clock" | "telemetry" | "initializeTimeoutMs">> & OpenOptions;

/**
 * Opens connections through the relay. Loaded when the first one is wanted, and with it all that the relay needs. The
 * harness's keys are made once and kept over connections, until they are to be forgotten.
 */
export class RelayOpener {
  readonly #options: RelayCarrierOptions;
  readonly #primitives: Primitives;
  readonly #environmentId: string;
  readonly #dial: Dial;
  #keys: Promise<StaticKeys> | undefined;

  private constructor(options: RelayCarrierOptions, primitives: Primitives) {
    this.#options = options;
    this.#primitives = primitives;
    this.#environmentId = options.environmentId.trim();
    this.#dial = options.dial ?? wsDial;
  }

  static async load(options: RelayCarrierOptions): Promise<RelayOpener> {
    return new RelayOpener(options, await loadPrimitives());
  }

  /** Wipes the keys; the next connection gets others. */
  forgetKeys(): void {
    const keys = this.#keys;
    this.#keys = undefined;
    void keys?.then((keys) => keys[Symbol.dispose](), () => {});
  }

  /** @throws {ClientError} See {@linkcode Carrier.lookUp}. */
  async lookUp(signal: AbortSignal): Promise<FoundExecutor> {
    const keys = await this.#identity();
    const bundle = await this.#ask(keys, REFRESH_TIMEOUT_MS, { signal });
    return { keys, bundle, executor: executorOf(bundle) };
  }

  /** @throws {ClientError} See {@linkcode Carrier.open}. @param found Where the first attempt goes, if it still can. */
  async open(options: OpenOptions, found?: FoundExecutor): Promise<OpenedConnection> {
    const attempt = {
      ...{ clock: waitingClock, telemetry: {}, initializeTimeoutMs: INITIALIZE_TIMEOUT_MS },
      ...options,
    };
    const keys = await this.#identity();
    const { resuming } = options;
    if (resuming === undefined) {
      return await this.#openFirst(attempt, keys, found?.keys === keys ? found.bundle : undefined);
    }
    const bundle = await this.#ask(keys, RECONNECT_REQUEST_TIMEOUT_MS, attempt);
    if (resuming.executor !== undefined && keyOf(resuming.executor) !== keyOf(executorOf(bundle))) {
      throw protocolError("executor key changed during session recovery");
    }
    return await this.#openWith(bundle, keys, attempt);
  }

  async #openFirst(attempt: Attempt, keys: StaticKeys, found: HarnessBundle | undefined): Promise<OpenedConnection> {
    const span = startSpan(attempt, "codex.exec_server.remote.noise.connect");
    const traced = span === undefined ? attempt : { ...attempt, trace: span.context };
    const ask = () => firstBundle((timeoutMs) => this.#ask(keys, timeoutMs, traced), traced);
    try {
      const bundle = found ?? await ask();
      try {
        return await this.#openWith(bundle, keys, traced);
      } catch (error) {
        if (!isUnauthorized(error)) throw error;
        // What it was given may have expired meanwhile; a second time that is not the reason.
        return await this.#openWith(await ask(), keys, traced);
      }
    } finally {
      span?.end();
    }
  }

  async #ask(
    keys: StaticKeys,
    timeoutMs: number,
    { signal, clock = waitingClock }: Pick<OpenOptions, "signal" | "clock">,
  ): Promise<HarnessBundle> {
    const { registry: url, fetch } = this.#options;
    try {
      // As to servers behind a URL: no token crosses a network in the clear.
      requireSecure(String(url).trim(), "https");
      const registry = new Registry({
        ...{ url: String(url), environmentId: this.#environmentId, clock },
        credential: harnessCredential(this.#options),
        ...(fetch === undefined ? {} : { fetch }),
      });
      return await registry.connect(keys.public, { signal, timeoutMs });
    } catch (error) {
      signal.throwIfAborted();
      throw registryFailure(error);
    }
  }

  async #openWith(bundle: HarnessBundle, keys: StaticKeys, attempt: Attempt): Promise<OpenedConnection> {
    const { signal, clock, initializeTimeoutMs } = attempt;
    const url = shownUrl(bundle.url);
    const { connectTimeoutMs = CONNECT_TIMEOUT_MS } = this.#options;
    const dialing = startSpan(attempt, "codex.exec_server.remote.noise.websocket_connect", {
      environment_id: this.#environmentId,
      executor_registration_id: bundle.registrationId,
    });
    let shaking: Span | undefined;
    let openedAt = 0;
    try {
      const { stream, gone } = await openHarness({
        ...{ bundle, keys, primitives: this.#primitives, environmentId: this.#environmentId },
        ...{ dial: this.#dial, connectTimeoutMs, clock, signal, handshakeTimeoutMs: initializeTimeoutMs },
        headers: traceHeaders(dialing?.context ?? attempt.trace),
        label: `Noise exec-server rendezvous websocket ${url}`,
        opened: () => {
          openedAt = clock.now();
          dialing?.end();
          shaking = startSpan(attempt, "codex.exec_server.remote.noise.handshake");
        },
      });
      return {
        connection: stream,
        gone,
        initializeTimeoutMs: Math.max(0, initializeTimeoutMs - (clock.now() - openedAt)),
        executor: executorOf(bundle),
        // The executor ends a stream on which more than 128 messages wait.
        keepsRequestLimit: true,
      };
    } catch (error) {
      signal.throwIfAborted();
      if (error instanceof DialError) throw dialFailure(error, url, connectTimeoutMs);
      throw harnessFailure(error, initializeTimeoutMs);
    } finally {
      if (shaking === undefined) dialing?.end();
      shaking?.end();
    }
  }

  #identity(): Promise<StaticKeys> {
    this.#keys ??= StaticKeys.generate(this.#primitives).catch((error) => {
      this.#keys = undefined;
      throw error;
    });
    return this.#keys;
  }
}

/** Who executes, as one text: the key, and behind a blank the registration. */
function executorOf({ executor, registrationId }: HarnessBundle): string {
  const { x25519_public_key, mlkem768_public_key } = encodePublicKeys(executor);
  return `${x25519_public_key}.${mlkem768_public_key} ${registrationId}`;
}

function keyOf(executor: string): string {
  return executor.slice(0, executor.indexOf(" "));
}

function isUnauthorized(error: unknown): boolean {
  return error instanceof ClientError && error.cause instanceof DialError && error.cause.status === 401;
}

function startSpan({ telemetry, trace }: Attempt, name: string, attributes: Attributes = {}): Span | undefined {
  return telemetry.startSpan?.({ name, kind: "client", attributes, parent: trace });
}

/** The trace goes with the upgrade, as far as it can be a header. */
function traceHeaders(trace: TraceContext | undefined): Record<string, string> {
  const { traceparent, tracestate } = trace ?? {};
  const entries = Object.entries({ traceparent, tracestate }).filter(([, value]) =>
    value && /^[!-~][ -~]*$/.test(value)
  );
  return Object.fromEntries(entries) as Record<string, string>;
}
