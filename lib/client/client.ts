import { type Clock, waitingClock } from "../clock.ts";
import { type Log, silentLog } from "../log.ts";
import type { TraceContext } from "../observer.ts";
import type { EnvironmentInfo } from "../protocol/environment.ts";
import type { ProcessSummary } from "../protocol/extensions.ts";
import type { Params, RequestName, Result } from "../protocol/methods.ts";
import type { CallOptions } from "./calls.ts";
import type { Carrier } from "./carrier.ts";
import { checkDuration } from "./check_duration.ts";
import { type ClientError, transportClosed, unsupported } from "./client_error.ts";
import type { ConnectionState } from "./client_state.ts";
import type { Environment, EnvironmentStatus } from "./environment.ts";
import type { Fetch } from "./fetch.ts";
import type { Files } from "./files.ts";
import { harmlessTelemetry } from "./harmless_telemetry.ts";
import { HttpBodies } from "./http_bodies.ts";
import {
  ATTACH_DEADLINE_MS,
  ENVIRONMENT_STATUS_TIMEOUT_MS,
  INITIALIZE_TIMEOUT_MS,
  RECOVERY_DEADLINE_MS,
} from "./limits.ts";
import { LogicalClient } from "./logical_client.ts";
import { NetworkDecisions } from "./network_decisions.ts";
import type { CollectedOutput, ExecProcess, RunOptions, StartOptions } from "./process.ts";
import { Processes } from "./processes.ts";
import { remoteFetch } from "./remote_fetch.ts";
import { RemoteFiles } from "./remote_files.ts";
import type { ServerEvent } from "./server_event.ts";
import type { Telemetry } from "./telemetry.ts";

export interface ClientOptions {
  /** Told to the server, for its diagnostics only. Default `codex-core`. */
  readonly clientName?: string;
  /** Takes over the processes of a session whose connection has ended. */
  readonly resumeSessionId?: string;
  /** The name of the environment. Default `remote`. */
  readonly id?: string;
  /** What a call does while a lost connection is being recovered: it waits (default), or fails at once. */
  readonly recovery?: "wait" | "failFast";
  /** For the answer to `initialize`, in milliseconds. Default 10 s. */
  readonly initializeTimeoutMs?: number;
  /** From the loss of a connection until the session must be attached again, in milliseconds. Default 45 s. */
  readonly attachDeadlineMs?: number;
  /** From the loss of a connection until the processes must have been replayed, in milliseconds. Default 50 s. */
  readonly recoveryDeadlineMs?: number;
  readonly telemetry?: Telemetry;
  readonly log?: Log;
  readonly clock?: Clock;
  /** Gives up the first attempt to connect. The client itself is ended by disposing of it. */
  readonly signal?: AbortSignal;
  /** The trace that the first handshake belongs to; without it one of its own. */
  readonly trace?: TraceContext;
  /** Told when a connection is lost, and when there is one again. */
  onState?(state: ConnectionState): void;
  /** Hears what the server tells, in the order in which it comes, before it is put into the order of each process. */
  onNotification?(event: ServerEvent): void;
}

/** The name of an environment that was given none. */
const REMOTE_ENVIRONMENT_ID = "remote";

/**
 * A session with an exec-server that outlives its connections. When one is lost, programs run on and lose nothing that
 * they say; calls that were under way fail, later ones wait for the next connection.
 */
export class ExecClient implements Environment {
  readonly id: string;
  readonly files: Files;
  readonly fetch: Fetch;
  readonly #core: LogicalClient;
  readonly #processes: Processes;

  private constructor(core: LogicalClient, id: string) {
    this.#core = core;
    this.id = id;
    const bodies = new HttpBodies();
    this.#processes = new Processes(core);
    const decisions = new NetworkDecisions(core, (processId) => this.#processes.get(processId)?.decider);
    core.answerWith((...question) => decisions.request(...question));
    for (const part of [bodies, decisions, this.#processes]) core.add(part);
    this.files = new RemoteFiles(core);
    this.fetch = remoteFetch(core, bodies);
  }

  /**
   * Connects to a server and begins, or resumes, a session.
   *
   * @throws {ClientError} Why there is no connection; nothing of it is left. Or the signal's reason.
   * @throws {RangeError} A time limit is none.
   */
  static async connect(carrier: Carrier, options: ClientOptions = {}): Promise<ExecClient> {
    const {
      log = silentLog,
      initializeTimeoutMs = INITIALIZE_TIMEOUT_MS,
      attachDeadlineMs = ATTACH_DEADLINE_MS,
      recoveryDeadlineMs = RECOVERY_DEADLINE_MS,
    } = options;
    const limits = { initializeTimeoutMs, attachDeadlineMs, recoveryDeadlineMs };
    for (const [name, ms] of Object.entries(limits)) checkDuration(name, ms);
    const core = new LogicalClient({
      carrier,
      clientName: options.clientName ?? "codex-core",
      ...limits,
      failFast: options.recovery === "failFast",
      clock: options.clock ?? waitingClock,
      log,
      telemetry: harmlessTelemetry(options.telemetry ?? {}, log),
      onState: (state) => options.onState?.(state),
    });
    const client = new ExecClient(core, options.id ?? REMOTE_ENVIRONMENT_ID);
    if (options.onNotification !== undefined) core.add({ notification: listener(options.onNotification, log) });
    const { resumeSessionId = null, trace = null, signal = core.signal } = options;
    try {
      await core.start(resumeSessionId, trace, signal);
    } catch (error) {
      await core.end();
      throw error;
    }
    return client;
  }

  /** Names the session; give it as `resumeSessionId` to a later client. */
  get sessionId(): string {
    return this.#core.sessionId!;
  }

  get state(): "connected" | "recovering" | "failed" {
    return this.#core.state;
  }

  /** Once `failed`: why, for good. */
  get failure(): ClientError | undefined {
    return this.#core.failure;
  }

  /**
   * One call in the protocol's own terms, the extensions' methods included. It is never repeated.
   *
   * @throws {ClientError} What the server answered, or why no answer came. Or the signal's reason.
   */
  call<M extends RequestName>(method: M, params: Params<M>, options?: CallOptions): Promise<Result<M>> {
    return this.#core.call(method, params, options);
  }

  async info(options: CallOptions = {}): Promise<EnvironmentInfo> {
    const span = this.#core.telemetry.startSpan?.({
      name: "exec_server.environment.info",
      kind: "internal",
      attributes: { remote: true },
      parent: options.trace === null ? undefined : options.trace ?? this.#core.telemetry.currentTrace?.(),
    });
    try {
      return await this.#core.info(span === undefined ? options : { ...options, trace: span.context });
    } finally {
      span?.end();
    }
  }

  /** Asks the server, if there is a connection just now; it does not wait for one. */
  async status(options: CallOptions = {}): Promise<EnvironmentStatus> {
    const connection = this.#core.current;
    if (connection === undefined) {
      return { state: "disconnected", error: this.failure?.message ?? "exec-server environment is recovering" };
    }
    try {
      await connection.call("environment/status", null, { timeoutMs: ENVIRONMENT_STATUS_TIMEOUT_MS, ...options });
      return { state: "ready" };
    } catch (error) {
      options.signal?.throwIfAborted();
      return { state: "disconnected", error: (error as ClientError).message };
    }
  }

  start(options: StartOptions): Promise<ExecProcess> {
    return this.#processes.start(options);
  }

  run(options: RunOptions): Promise<CollectedOutput> {
    return this.#processes.run(options);
  }

  /**
   * A process of the session that an earlier client started. What it does begins with the oldest that the server still
   * has.
   *
   * @throws {ClientError} What the server answered, e.g. that it does not know it.
   */
  attach(processId: string, options?: CallOptions): Promise<ExecProcess> {
    return this.#processes.attach(processId, options);
  }

  /** Whether the server announces our extensions. */
  hasExtensions(): Promise<boolean> {
    return this.#core.hasExtensions();
  }

  /** The processes of the session, also those that have ended and are still remembered. An extension. */
  async processes(options?: CallOptions): Promise<readonly ProcessSummary[]> {
    await this.#demandExtensions("list the processes of a session");
    return (await this.call("execServer/process/list", null, options)).processes;
  }

  /**
   * Has the session live on for so long without a connection, in milliseconds, if the server grants it. An extension.
   *
   * @returns What was granted.
   */
  async lease(durationMs: number, options?: CallOptions): Promise<number> {
    await this.#demandExtensions("keep a session longer than 80 s without a connection");
    return (await this.call("execServer/session/lease", { durationMs }, options)).durationMs;
  }

  async #demandExtensions(what: string): Promise<void> {
    if (!await this.#core.hasExtensions()) throw unsupported(`this exec-server cannot ${what}`);
  }

  /**
   * Ends the client for good: what is pending fails, nothing is recovered any more. The session and its processes live
   * on for 80 s, or as long as they were leased.
   *
   * @param error What everybody is told who still waits, or asks later.
   */
  end(error: ClientError = transportClosed()): Promise<void> {
    return this.#core.end(error);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.end();
  }
}

function listener(listen: (event: ServerEvent) => void, log: Log): (event: ServerEvent) => void {
  return (event) => {
    try {
      listen(event);
    } catch (error) {
      log.error("a listener for notifications failed", { error: error instanceof Error ? error.stack : String(error) });
    }
  };
}
