import { silentLog } from "../log.ts";
import { abortable } from "../abortable.ts";
import type { CallOptions } from "./calls.ts";
import type { Carrier } from "./carrier.ts";
import type { ClientOptions, ExecClient } from "./client.ts";
import { ClientError, protocolError, transportClosed, unavailable } from "./client_error.ts";
import { ConnectionAttempt } from "./connection_attempt.ts";
import { ConnectionStates } from "./connection_states.ts";
import type { EnvironmentStatus } from "./environment.ts";
import { harmlessTelemetry } from "./harmless_telemetry.ts";
import { ENVIRONMENT_STATUS_TIMEOUT_MS } from "./limits.ts";
import type { Telemetry } from "./telemetry.ts";

/** As of a client; what each of its clients is given anew is missing. */
export type LazyClientOptions = Omit<ClientOptions, "resumeSessionId" | "signal" | "trace" | "onState">;

/** As which the reference makes itself known to the servers of environments. */
const ENVIRONMENT_CLIENT_NAME = "codex-environment";

/** What `get` may be told. */
export interface GetOptions {
  /** Gives up waiting; an attempt that others may share goes on. */
  readonly signal?: AbortSignal | undefined;
  /** Whether to wait for a connection, or to fail where there is none now. Default: the client's own policy. */
  readonly recovery?: "wait" | "failFast";
}

/**
 * The client of one environment, made when it is needed first, and made anew, with a session of its own, after it has
 * failed for good. Whoever asks at the same time shares one attempt.
 */
export class LazyClient implements AsyncDisposable {
  readonly states: ConnectionStates;
  readonly #carrier: Carrier;
  readonly #options: LazyClientOptions;
  readonly #telemetry: Telemetry;
  #client: ExecClient | undefined;
  /** What made `#client`. */
  #maker: ConnectionAttempt | undefined;
  #attempt: ConnectionAttempt | undefined;
  /** No attempt was made before. */
  #isFirst = true;
  /** The first attempt failed in a way that another would not mend. */
  #verdict: ClientError | undefined;
  #lastFailure: ClientError | undefined;
  /** Aborted, with what everybody is told, when it was disposed of. */
  readonly #ender = new AbortController();
  #refreshing: Promise<unknown> = Promise.resolve();
  /** Clients that were replaced, until nothing of them is left. */
  readonly #leaving = new Set<Promise<void>>();
  readonly #use: Disposable | undefined;

  constructor(carrier: Carrier, options: LazyClientOptions = {}) {
    this.#carrier = carrier;
    this.#use = carrier.use?.();
    this.#options = options;
    const { log = silentLog, telemetry = {} } = options;
    this.#telemetry = harmlessTelemetry(telemetry, log);
    this.states = new ConnectionStates(log);
  }

  /**
   * The client to use now. It may be recovering: its calls wait. Of a carrier that cannot be renewed it may be a dead
   * one, whose calls fail.
   *
   * @throws {ClientError} `attempt`: there is none, and connecting failed; `unavailable`: none is there now, and
   * `failFast` does not wait. Or the signal's reason.
   */
  async get({ signal, recovery = this.#options.recovery }: GetOptions = {}): Promise<ExecClient> {
    signal?.throwIfAborted();
    this.#ender.signal.throwIfAborted();
    const client = this.#client;
    if (recovery === "failFast") {
      if (client === undefined) throw unavailable("exec-server environment is not ready");
      if (client.state === "recovering") throw unavailable("exec-server environment is recovering");
      return client;
    }
    if (client !== undefined && (client.state !== "failed" || !this.#carrier.renewable)) return client;
    if (this.#verdict !== undefined) throw this.#verdict;
    return await abortable((this.#attempt ?? this.#begin(this.#carrier)).client, signal);
  }

  /** Begins to connect, unless that was done before. Whoever asks next is told of a failure, or tries again. */
  connectInBackground(): void {
    if (this.#isFirst && !this.#ender.signal.aborted) this.#begin(this.#carrier);
  }

  /** Without side effects: asks the server only where it is connected. */
  async status(options: CallOptions = {}): Promise<EnvironmentStatus> {
    const { aborted, reason } = this.#ender.signal;
    if (aborted) return { state: "disconnected", error: reason.message };
    if (this.#client !== undefined) return await this.#client.status(options);
    return this.#lastFailure === undefined
      ? { state: "pending" }
      : { state: "disconnected", error: this.#lastFailure.message };
  }

  /**
   * After the executor of the environment was replaced on purpose: finds the new one without waiting for the recovery of
   * the old connection to give up. If it is the same one the session is kept. One refresh after the other.
   *
   * @throws {ClientError} `protocol`, where the environment is not behind a registry; why there is no connection; or that
   * it does not answer.
   */
  refresh(signal?: AbortSignal): Promise<void> {
    const either = signal === undefined ? this.#ender.signal : AbortSignal.any([signal, this.#ender.signal]);
    const refreshed = this.#refreshing.then(() => this.#refresh(either));
    this.#refreshing = refreshed.catch(() => {});
    return abortable(refreshed, either);
  }

  async #refresh(signal: AbortSignal): Promise<void> {
    const client = await this.#clientOfExecutor(signal);
    if (client.state === "recovering") throw unavailable("exec-server environment is recovering");
    await client.call("environment/status", null, { signal, timeoutMs: ENVIRONMENT_STATUS_TIMEOUT_MS });
  }

  async #clientOfExecutor(signal: AbortSignal): Promise<ExecClient> {
    const registry = this.#carrier;
    if (registry.lookUp === undefined) throw protocolError("connection refresh requires a Noise registry");
    for (;;) {
      signal.throwIfAborted();
      const before = this.#client;
      const { executor, carrier } = await abortable(registry.lookUp(signal), signal);
      // The end of this client may have come after the answer, but before it was heard here.
      signal.throwIfAborted();
      // A client that came meanwhile may be newer than this answer.
      if (this.#client !== before) continue;
      if (before !== undefined && before.state !== "failed" && this.#maker?.executor === executor) return before;
      this.#attempt?.giveUp(disconnectedText("connection attempt was superseded"));
      // It was about another executor.
      this.#verdict = undefined;
      this.states.publish("disconnected");
      const attempt = this.#begin(carrier);
      if (before !== undefined) this.#retire(before, disconnectedText("exec-server executor was replaced"));
      return await attempt.client;
    }
  }

  #begin(carrier: Carrier): ConnectionAttempt {
    const isFirst = this.#isFirst;
    this.#isFirst = false;
    let made: ExecClient | undefined;
    const attempt = new ConnectionAttempt(carrier, {
      clientName: ENVIRONMENT_CLIENT_NAME,
      ...this.#options,
      telemetry: this.#telemetry,
      install: (client, maker) => {
        made = client;
        this.#install(client, maker);
      },
      // Those who were replaced have no say any more, those to come have none yet.
      onState: (state) => {
        if (made !== undefined && made === this.#client) this.states.publish(state);
      },
    });
    this.#attempt = attempt;
    void this.#follow(attempt, isFirst);
    return attempt;
  }

  async #follow(attempt: ConnectionAttempt, isFirst: boolean): Promise<void> {
    try {
      await attempt.client;
    } catch (error) {
      if (!(error instanceof ClientError)) return;
      this.#lastFailure = error;
      if (isFirst && !(error.retryable && this.#carrier.renewable)) this.#verdict = error;
    } finally {
      if (this.#attempt === attempt) this.#attempt = undefined;
    }
  }

  #install(client: ExecClient, maker: ConnectionAttempt): void {
    if (this.#client !== undefined) this.#retire(this.#client);
    this.#client = client;
    this.#maker = maker;
    this.states.publish(client.state === "connected" ? "connected" : "disconnected");
  }

  /** @param error What those are told who still use it. */
  #retire(client: ExecClient, error?: ClientError): void {
    const gone = client.end(error).finally(() => this.#leaving.delete(gone));
    this.#leaving.add(gone);
  }

  /** Does something within a span of that name. */
  async spanned<T>(name: string, { trace }: CallOptions, act: () => Promise<T>): Promise<T> {
    const span = this.#telemetry.startSpan?.({
      name,
      kind: "internal",
      attributes: { remote: true },
      parent: trace === null ? undefined : trace ?? this.#telemetry.currentTrace?.(),
    });
    try {
      return await act();
    } finally {
      span?.end();
    }
  }

  /** Ends attempt and client; calls that wait or come later fail. The session lives on for 80 s. */
  async [Symbol.asyncDispose](): Promise<void> {
    const error = transportClosed();
    const attempt = this.#attempt;
    this.#ender.abort(error);
    attempt?.giveUp(error);
    if (this.#client !== undefined) this.#retire(this.#client, error);
    await Promise.allSettled([attempt?.client, this.#refreshing, ...this.#leaving]);
    this.#use?.[Symbol.dispose]();
  }
}

function disconnectedText(text: string): ClientError {
  return new ClientError("disconnected", text);
}
