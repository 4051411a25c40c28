import { pause } from "../abortable.ts";
import type { CallOptions } from "./calls.ts";
import { ClientError, isTransportClosed, jsonError, protocolError } from "./client_error.ts";
import type { ClientPart, ServerEvent } from "./client_part.ts";
import { collectOutput } from "./collect_output.ts";
import type { Core } from "./core.ts";
import { RESUME_PAUSE_MS } from "./limits.ts";
import type { CollectedOutput, ExecProcess, RunOptions, StartOptions } from "./process.ts";
import { ProcessHandle } from "./process_handle.ts";
import { randomId } from "./random_id.ts";
import { RemoteProcess, type RemoteProcessOptions } from "./remote_process.ts";
import type { ServerConnection } from "./server_connection.ts";
import { type StartRequest, startRequest } from "./start_request.ts";

/** The processes of a client: where the server's events about them go, and what becomes of them without a connection. */
export class Processes implements ClientPart {
  readonly #core: Core;
  /** Those whose events are still wanted, by id. Bounded by what the server runs for us. */
  readonly #routes = new Map<string, RemoteProcess>();
  #activeStarts = 0;
  /** Resolved when no start is active; only while somebody waits for it. */
  #quiet: PromiseWithResolvers<void> | undefined;

  constructor(core: Core) {
    this.#core = core;
  }

  /**
   * Starts a program.
   *
   * @throws {ClientError} What the server answered; or a transport-closed one: then it is not known whether it has begun,
   * and it is ended if it has. Or the signal's reason.
   */
  async start(options: StartOptions): Promise<ExecProcess> {
    options.signal?.throwIfAborted();
    const trace = options.trace ?? this.#core.telemetry.currentTrace?.();
    const request = await startRequest(this.#core, options);
    const timeoutMs = options.networkProxy?.policyDecisionTimeoutMs;
    const { connection, process } = await this.#begin(request.params.processId, {
      isTerminal: request.params.tty,
      writeIdPrefix: "",
      decider: options.networkDecider && timeoutMs ? { decide: options.networkDecider, timeoutMs } : null,
    }, options.signal);
    // A task of its own: a caller that goes away leaves nothing half done.
    const started = this.#perform(connection, process, request, trace);
    return await this.#handOver(started, process, options.signal);
  }

  /** Starts a program, gives it its input, waits for its end and gives what it wrote. */
  run(options: RunOptions): Promise<CollectedOutput> {
    return collectOutput({
      start: (start) => this.start(start),
      canEndInput: () => this.#core.hasExtensions(),
    }, options);
  }

  /**
   * A process of the session that an earlier client started. What it does begins with the oldest that the server still
   * has.
   *
   * @throws {ClientError} What the server answered, e.g. that it does not know it.
   */
  async attach(processId: string, options: CallOptions = {}): Promise<ExecProcess> {
    const { signal } = options;
    const hasExtensions = await this.#core.hasExtensions();
    const summary = hasExtensions
      ? await this.#core.callUntilAnswered("execServer/process/status", { processId }, options)
      : undefined;
    const { process } = await this.#begin(processId, {
      isTerminal: summary?.tty ?? null,
      // The server remembers the ids of writes that the earlier client made.
      writeIdPrefix: `${randomId()}-`,
      decider: null,
    }, signal);
    process.awaitMissed();
    try {
      const query = { processId, afterSeq: 0, maxBytes: null, waitMs: 0 };
      process.beginWith(await this.#core.callUntilAnswered("process/read", query, options));
      process.recoverable = true;
    } catch (error) {
      process.release();
      throw error;
    }
    return this.#handle(process, summary?.sandboxType ?? "unknown");
  }

  /** The process whose events are still wanted under this id. */
  get(processId: string): RemoteProcess | undefined {
    return this.#routes.get(processId);
  }

  notification(event: ServerEvent): void {
    switch (event.method) {
      case "process/output":
      case "process/exited":
      case "process/closed":
        this.#routes.get(event.params.processId)?.hear(event);
    }
  }

  attaching(): void {
    for (const process of this.#routes.values()) if (process.recoverable) process.awaitMissed();
  }

  settled(): Promise<void> {
    if (this.#activeStarts === 0) return Promise.resolve();
    return (this.#quiet ??= Promise.withResolvers()).promise;
  }

  async replay(connection: ServerConnection, signal: AbortSignal): Promise<void> {
    for (const process of [...this.#routes.values()]) {
      if (process.recoverable && !process.feed.ended) await this.#replayOne(process, connection, signal);
    }
  }

  failed(error: ClientError): void {
    for (const process of [...this.#routes.values()]) process.fail(error);
  }

  /** Registers a process while a connection is known to live. */
  async #begin(
    processId: string,
    options: Omit<RemoteProcessOptions, "released" | "kill" | "isReplaced">,
    signal: AbortSignal | undefined,
  ): Promise<{ connection: ServerConnection; process: RemoteProcess }> {
    let connection: ServerConnection;
    do connection = await this.#core.connection(signal); while (!this.#core.isCurrent(connection));
    if (this.#routes.has(processId)) throw protocolError(`session already registered for process ${processId}`);
    const process = new RemoteProcess(this.#core, processId, {
      ...options,
      kill: (unwanted) => this.#kill(unwanted),
      isReplaced: (older) => this.#isReplaced(older),
      // Only itself: another process may have the id by now.
      released: (released) => {
        if (this.#routes.get(processId) === released) this.#routes.delete(processId);
      },
    });
    this.#routes.set(processId, process);
    return { connection, process };
  }

  async #perform(
    connection: ServerConnection,
    process: RemoteProcess,
    request: StartRequest,
    parent: CallOptions["trace"],
  ): Promise<ExecProcess> {
    this.#activeStarts++;
    const span = this.#core.telemetry.startSpan?.({
      name: "codex.exec_server.process_start",
      kind: "internal",
      attributes: { "process.id": process.id },
      parent: parent ?? undefined,
    });
    const trace = span?.context ?? parent ?? null;
    try {
      const { processId, sandboxType } = request.method === "process/start"
        ? await connection.call(request.method, request.params, { trace })
        : await connection.call(request.method, request.params, { trace });
      if (processId !== process.id) throw jsonError("process/start was answered for another process");
      process.recoverable = true;
      return this.#handle(process, sandboxType);
    } catch (error) {
      // Without an answer that says so, it is not known whether it has begun.
      if (isTransportClosed(error) || (error instanceof ClientError && error.kind === "json")) {
        void this.#abandon(process);
      } else process.release();
      throw error;
    } finally {
      span?.end();
      if (--this.#activeStarts === 0) this.#quiet?.resolve(this.#quiet = undefined);
    }
  }

  /** Waits for a start until the signal is aborted; what begins after that is ended. */
  #handOver(
    started: Promise<ExecProcess>,
    process: RemoteProcess,
    signal: AbortSignal | undefined,
  ): Promise<ExecProcess> {
    if (signal === undefined) return started;
    return new Promise((resolve, reject) => {
      let isWanted = true;
      const giveUp = (): void => {
        isWanted = false;
        reject(signal.reason);
      };
      if (signal.aborted) giveUp();
      else signal.addEventListener("abort", giveUp, { once: true });
      started.then((handle) => {
        if (isWanted) resolve(handle);
        else void this.#abandon(process);
      }, reject).finally(() => signal.removeEventListener("abort", giveUp));
    });
  }

  #handle(process: RemoteProcess, sandboxType: string): ExecProcess {
    return new ProcessHandle({
      id: process.id,
      sandboxType,
      feed: process.feed,
      port: process,
      clock: this.#core.clock,
    });
  }

  /** Ends a process that nobody has a handle of, as soon as there is a connection, and lets go of it. */
  async #abandon(process: RemoteProcess): Promise<void> {
    process.recoverable = false;
    try {
      await this.#kill(process);
    } catch (error) {
      this.#core.log.warn("a process may be left over", { process: process.id, error: String(error) });
    } finally {
      process.release();
    }
  }

  /**
   * Terminates a process, over as many connections as it takes: unless it is over by then, when its id may belong to
   * another one already.
   */
  async #kill(process: RemoteProcess): Promise<boolean> {
    const { id: processId } = process;
    for (;;) {
      try {
        const connection = await this.#core.connection();
        if (process.isOver || this.#isReplaced(process)) return false;
        return (await connection.call("process/terminate", { processId }, { cleanup: true })).running;
      } catch (error) {
        await this.#beforeNextKill(error);
      }
    }
  }

  #isReplaced(process: RemoteProcess): boolean {
    return (this.#routes.get(process.id) ?? process) !== process;
  }

  /** @throws What the attempt failed with, if there can be no other. */
  async #beforeNextKill(error: unknown): Promise<void> {
    const { clock, failure, signal } = this.#core;
    if (!(error instanceof ClientError) || failure !== undefined) throw error;
    const { kind } = error;
    // A client that does not wait for its recovery says so; this call does.
    if (kind === "unavailable" || kind === "server" && isTransportClosed(error)) {
      await pause(clock, RESUME_PAUSE_MS, signal);
    } else if (!isTransportClosed(error)) throw error;
  }

  async #replayOne(process: RemoteProcess, connection: ServerConnection, signal: AbortSignal): Promise<void> {
    try {
      const query = { processId: process.id, afterSeq: process.lastSeq, maxBytes: null, waitMs: 0 };
      process.recover(await connection.call("process/read", query, { signal, trace: null }));
    } catch (error) {
      signal.throwIfAborted();
      if (!(error instanceof ClientError) || isTransportClosed(error)) throw error;
      await this.#giveUp(process, error, connection, signal);
    }
  }

  /** Fails one process whose events cannot be made up for; the others go on. */
  async #giveUp(
    process: RemoteProcess,
    cause: ClientError,
    connection: ServerConnection,
    signal: AbortSignal,
  ): Promise<void> {
    try {
      await connection.call("process/terminate", { processId: process.id }, { signal, cleanup: true, trace: null });
    } catch (error) {
      signal.throwIfAborted();
      if (!(error instanceof ClientError) || isTransportClosed(error)) throw error;
      this.#core.log.warn("a process may be left over", { process: process.id, error: error.message });
    }
    process.fail(new ClientError("protocol", `failed to recover process ${process.id}: ${cause.message}`, { cause }));
  }
}
