import type { Clock } from "../clock.ts";
import type { Json } from "../json.ts";
import type { Log } from "../log.ts";
import type { TraceContext } from "../observer.ts";
import type { EnvironmentInfo } from "../protocol/environment.ts";
import { EXTENSIONS_CAPABILITY } from "../protocol/extensions.ts";
import type { Params, RequestName, Result } from "../protocol/methods.ts";
import { pause } from "../abortable.ts";
import type { CallOptions } from "./calls.ts";
import type { Carrier, OpenedConnection, OpenOptions } from "./carrier.ts";
import { type ClientError, disconnected, isTransportClosed, transportClosed } from "./client_error.ts";
import type { ClientPart } from "./client_part.ts";
import { ClientState, type ClientStateOptions } from "./client_state.ts";
import type { Core } from "./core.ts";
import { Dialer } from "./dialer.ts";
import { type HandshakeOptions, shakeHands } from "./handshake.ts";
import { InfoCache } from "./info_cache.ts";
import { ENVIRONMENT_INFO_TIMEOUT_MS, RESUME_PAUSE_MS } from "./limits.ts";
import { Parts } from "./parts.ts";
import { recover } from "./recovery.ts";
import { type ConnectionCallOptions, ServerConnection } from "./server_connection.ts";
import type { ServerEvent } from "./server_event.ts";
import type { Telemetry } from "./telemetry.ts";

export interface LogicalClientOptions extends ClientStateOptions {
  readonly carrier: Carrier;
  readonly clientName: string;
  readonly initializeTimeoutMs: number;
  readonly attachDeadlineMs: number;
  readonly recoveryDeadlineMs: number;
  readonly clock: Clock;
  readonly telemetry: Telemetry;
}

/** Answers a `network/policyRequest` by {@linkcode ServerConnection.reply}, or not at all. Must not reject. */
export type ServerRequestAnswerer = (id: string, params: Json, connection: ServerConnection) => Promise<void>;

/** One session with a server, over as many connections as it takes, one at a time. */
export class LogicalClient implements Core {
  readonly #options: LogicalClientOptions;
  readonly #state: ClientState;
  readonly #parts: Parts;
  readonly #dialer: Dialer;
  readonly #use: Disposable | undefined;
  readonly #aborter = new AbortController();
  readonly #info = new InfoCache();
  #answerer: ServerRequestAnswerer | undefined;
  #generation = 0;
  /** The connection that is being resumed: it may speak before it is installed. */
  #candidate: ServerConnection | undefined;
  #sessionId: string | undefined;
  /** Who has the session, where the carrier tells. */
  #executor: string | undefined;
  /** When the last resumed connection was installed, by the clock. */
  #resumedAt = -Infinity;
  /** How many in a row were lost at once. */
  #brief = 0;
  /** The last one, perhaps over. It does not reject. */
  #recovery: Promise<void> = Promise.resolve();

  constructor(options: LogicalClientOptions) {
    this.#options = options;
    this.#state = new ClientState(options);
    this.#parts = new Parts(options.telemetry, options.log);
    this.#dialer = new Dialer(options.carrier, options.log);
    this.#use = options.carrier.use?.();
  }

  get telemetry(): Telemetry {
    return this.#options.telemetry;
  }

  get log(): Log {
    return this.#options.log;
  }

  get clock(): Clock {
    return this.#options.clock;
  }

  get signal(): AbortSignal {
    return this.#aborter.signal;
  }

  get state(): "connected" | "recovering" | "failed" {
    return this.#state.name;
  }

  get failure(): ClientError | undefined {
    return this.#state.failure;
  }

  /** Undefined until the first handshake is done; the same ever after. */
  get sessionId(): string | undefined {
    return this.#sessionId;
  }

  /** Adds what is to be told of the connections' messages and of their fate. */
  add(part: ClientPart): void {
    this.#parts.add(part);
  }

  /** Without an answerer the server hears that the method is not implemented. */
  answerWith(answerer: ServerRequestAnswerer): void {
    this.#answerer = answerer;
  }

  /**
   * Makes the first connection. The client is of no use if this fails: end it.
   *
   * @throws {ClientError} Why there is none. Or the signal's reason.
   */
  async start(resumeSessionId: string | null, trace: TraceContext | null, signal: AbortSignal): Promise<void> {
    const { connection, opened } = await this.#open(trace === null ? { signal } : { signal, trace });
    this.#executor = opened.executor;
    this.#state.connected(connection);
    connection.start();
    await this.#initialize(connection, opened, { resumeSessionId, trace, signal });
    if (!this.isCurrent(connection)) throw disconnected();
    this.#state.publish("connected");
  }

  connection(signal?: AbortSignal): Promise<ServerConnection> {
    return this.#state.connection(signal);
  }

  /** The installed connection; undefined while there is none. */
  get current(): ServerConnection | undefined {
    return this.#state.current;
  }

  isCurrent(connection: ServerConnection): boolean {
    return this.current === connection && connection.alive;
  }

  async call<M extends RequestName>(
    method: M,
    params: Params<M>,
    options: ConnectionCallOptions = {},
  ): Promise<Result<M>> {
    // Without waiting where there is nothing to wait for: calls leave in the order in which they were made.
    const connection = this.current ?? await this.connection(options.signal);
    return await connection.call(method, params, options);
  }

  async callUntilAnswered<M extends RequestName>(
    method: M,
    params: Params<M>,
    options: ConnectionCallOptions = {},
  ): Promise<Result<M>> {
    for (;;) {
      try {
        return await this.call(method, params, options);
      } catch (error) {
        if (this.failure !== undefined || !isTransportClosed(error)) throw error;
        // The server says that a connection of its own is gone, while ours is not: no reason to ask it without a pause.
        if ((error as ClientError).kind === "server") await pause(this.clock, RESUME_PAUSE_MS, this.#waits(options));
      }
    }
  }

  /** Aborted when the caller has enough, or the client ends. */
  #waits({ signal }: CallOptions): AbortSignal {
    return signal === undefined ? this.signal : AbortSignal.any([signal, this.signal]);
  }

  info({ signal, trace }: CallOptions = {}): Promise<EnvironmentInfo> {
    const options = { timeoutMs: ENVIRONMENT_INFO_TIMEOUT_MS, ...(trace === undefined ? {} : { trace }) };
    return this.#info.get(() => this.call("environment/info", null, options), signal);
  }

  async hasExtensions(): Promise<boolean> {
    return (await this.info()).capabilities[EXTENSIONS_CAPABILITY] === true;
  }

  /**
   * Ends the client for good, and waits until nothing of its connections is left.
   *
   * @param error What everybody is told who still waits, or asks later.
   */
  async end(error: ClientError = transportClosed()): Promise<void> {
    if (!this.signal.aborted) {
      const connections = [this.#candidate, this.current];
      this.#aborter.abort(error);
      this.#fail(error);
      for (const connection of connections) connection?.end(error);
    }
    await this.#recovery;
    await this.#dialer.gone();
    this.#use?.[Symbol.dispose]();
  }

  async #open(options: OpenOptions): Promise<{ connection: ServerConnection; opened: OpenedConnection }> {
    const { clock, log, telemetry, initializeTimeoutMs } = this.#options;
    const opened = await this.#dialer.open({ ...options, clock, telemetry, initializeTimeoutMs });
    const connection = new ServerConnection({
      connection: opened.connection,
      generation: ++this.#generation,
      clock,
      log,
      telemetry,
      owner: {
        notification: (event, from) => this.#hear(event, from),
        request: this.#answerer,
        ended: (error, from) => this.#lose(error, from),
      },
    });
    return { connection, opened };
  }

  async #initialize(
    connection: ServerConnection,
    opened: OpenedConnection,
    options: Pick<HandshakeOptions, "resumeSessionId" | "trace" | "signal">,
  ): Promise<void> {
    const { clientName, initializeTimeoutMs: timeoutMs } = this.#options;
    const { initializeTimeoutMs: remainingMs = timeoutMs, keepsRequestLimit = false } = opened;
    const { sessionId, environmentInfo } = await shakeHands(connection, {
      ...{ clientName, timeoutMs, remainingMs, keepsRequestLimit },
      ...options,
    });
    this.#sessionId ??= sessionId;
    if (environmentInfo !== null) this.#info.fill(environmentInfo);
  }

  #hear(event: ServerEvent, from: ServerConnection): void {
    if (from === this.current || from === this.#candidate) this.#parts.notification(event, from);
  }

  /** Reports of any connection but the installed one change nothing. */
  #lose(error: ClientError, from: ServerConnection): void {
    if (from !== this.current) return;
    this.log.warn("connection to server lost", { generation: from.generation });
    this.#state.recovering();
    this.#parts.disconnected(error);
    this.#recovery = this.#recover(error);
  }

  async #recover(lost: ClientError): Promise<void> {
    const { clock, telemetry, log, attachDeadlineMs, recoveryDeadlineMs, carrier } = this.#options;
    this.#brief = clock.now() - this.#resumedAt < RESUME_PAUSE_MS ? this.#brief + 1 : 0;
    try {
      await recover(
        {
          strategy: carrier.resume,
          sessionId: this.#sessionId,
          settled: () => this.#parts.settled(),
          attach: (sessionId, signal) => this.#attach(sessionId, signal),
          replay: (connection, signal) => this.#parts.replay(connection, signal),
          install: (connection) => this.#install(connection),
        },
        lost,
        {
          clock,
          telemetry,
          log,
          attachDeadlineMs,
          recoveryDeadlineMs,
          // A server that drops every connection as soon as it is resumed is not dialled without end and pause.
          pauseFirst: this.#brief >= 2,
          signal: this.signal,
        },
      );
    } catch (error) {
      if (this.signal.aborted) return;
      log.error("connection to server could not be recovered", { generation: this.#generation });
      this.#fail(error as ClientError);
    } finally {
      this.#candidate = undefined;
    }
  }

  async #attach(resumeSessionId: string, signal: AbortSignal): Promise<ServerConnection> {
    this.#parts.attaching();
    const { connection, opened } = await this.#open({ signal, resuming: { executor: this.#executor } });
    this.#candidate = connection;
    try {
      connection.start();
      await this.#initialize(connection, opened, { resumeSessionId, trace: null, signal });
      return connection;
    } catch (error) {
      connection.close("the session could not be resumed");
      throw error;
    }
  }

  #install(connection: ServerConnection): boolean {
    if (!connection.alive || this.signal.aborted) return false;
    this.#candidate = undefined;
    this.#resumedAt = this.clock.now();
    this.#state.connected(connection);
    this.#state.publish("connected");
    return true;
  }

  #fail(error: ClientError): void {
    if (this.failure !== undefined) return;
    this.#state.failed(error);
    this.#parts.failed(error);
  }
}
