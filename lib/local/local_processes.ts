import { protocolError, transportClosed } from "../client/client_error.ts";
import { collectOutput } from "../client/collect_output.ts";
import { asServerError } from "../client/exec_error.ts";
import type { CollectedOutput, ExecProcess, RunOptions, StartOptions } from "../client/process.ts";
import { ProcessHandle } from "../client/process_handle.ts";
import { RemoteProcess } from "../client/remote_process.ts";
import { startRequest } from "../client/start_request.ts";
import type { Clock } from "../clock.ts";
import type { EnvironmentInfo } from "../protocol/environment.ts";
import type { Params } from "../protocol/methods.ts";
import { checkSnapshotScope, refuseNetworkControl, startPlace } from "../protocol/start_checks.ts";
import { confineProgram } from "../sandbox/confine_program.ts";
import type { LazySandbox } from "../sandbox/lazy_sandbox.ts";
import type { ProcessBackend } from "../process/child.ts";
import { childEnvironment } from "../process/environment.ts";
import { ProcessTable, type StartSpec } from "../process/process_table.ts";
import { type Deeds, LocalCalls } from "./local_calls.ts";
import { processDeeds } from "./process_deeds.ts";
import type { Log } from "../log.ts";

export interface LocalProcessesOptions {
  readonly backend: ProcessBackend;
  readonly info: EnvironmentInfo;
  /** What programs may inherit. */
  readonly variables: ReadonlyMap<string, string>;
  /** Stays the caller's. */
  readonly sandbox: LazySandbox;
  readonly clock: Clock;
  readonly log: Log;
  /** Aborted when the environment ends. */
  readonly ended: AbortSignal;
}

/** The programs that this process runs for an environment; they end with it. */
export class LocalProcesses implements Disposable {
  readonly #options: LocalProcessesOptions;
  readonly #table: ProcessTable;
  readonly #calls: LocalCalls;
  /** Those whose events are still wanted, by id. */
  readonly #running = new Map<string, RemoteProcess>();

  constructor(options: LocalProcessesOptions) {
    this.#options = options;
    this.#table = new ProcessTable({ ...options, events: this.#events() });
    this.#calls = new LocalCalls(processDeeds(this.#table) satisfies Deeds, options);
  }

  /** @throws {ClientError} What a server would answer. Or the signal's reason; nothing runs then. */
  async start(options: StartOptions): Promise<ExecProcess> {
    const { signal } = options;
    signal?.throwIfAborted();
    const request = await startRequest({
      info: () => Promise.resolve(this.#options.info),
      hasExtensions: () => Promise.resolve(true),
    }, options);
    signal?.throwIfAborted();
    if (this.#calls.failure !== undefined) throw this.#calls.failure;
    const { processId } = request.params;
    if (this.#running.has(processId)) throw protocolError(`session already registered for process ${processId}`);
    const process = new RemoteProcess(this.#calls, processId, {
      isTerminal: request.params.tty,
      writeIdPrefix: "",
      decider: null,
      released: () => this.#running.delete(processId),
    });
    this.#running.set(processId, process);
    try {
      const spec = this.#spec(request.params);
      await this.#table.start(spec, signal);
      const { feed } = process;
      return new ProcessHandle({
        id: processId,
        sandboxType: spec.sandboxType,
        feed,
        port: process,
        clock: this.#options.clock,
      });
    } catch (error) {
      process.release();
      signal?.throwIfAborted();
      throw asServerError(error);
    }
  }

  run(options: RunOptions): Promise<CollectedOutput> {
    return collectOutput({ start: (start) => this.start(start), canEndInput: () => Promise.resolve(true) }, options);
  }

  [Symbol.dispose](): void {
    this.#table[Symbol.dispose]();
    for (const process of [...this.#running.values()]) {
      process.fail(transportClosed());
      process.release();
    }
  }

  /** The order of the checks is a server's. */
  #spec(
    params: Params<"process/start"> & Partial<Params<"execServer/process/start">>,
  ): StartSpec & { sandboxType: string } {
    refuseNetworkControl(params);
    const { processId, argv, arg0, tty, pipeStdin, terminalSize, timeLimitMs } = params;
    const { sandbox, variables } = this.#options;
    const env = childEnvironment(params.env, params.envPolicy, variables);
    const { cwd, sandboxType, confinement } = startPlace(params, env, sandbox.isExternal);
    checkSnapshotScope(params);
    return {
      processId,
      argv,
      arg0,
      cwd,
      env,
      tty,
      pipeStdin,
      sandboxType,
      ...(confinement === null ? {} : { confine: (signal) => confineProgram(sandbox, confinement, signal) }),
      ...(terminalSize ? { terminalSize } : {}),
      ...(timeLimitMs ? { timeLimitMs } : {}),
    };
  }

  #events(): ConstructorParameters<typeof ProcessTable>[0]["events"] {
    const hear = (processId: string, notification: Parameters<RemoteProcess["hear"]>[0]) =>
      this.#running.get(processId)?.hear(notification);
    return {
      // Whether the program is to wait is found out by those who read.
      output: (processId, seq, stream, bytes) => {
        hear(processId, { method: "process/output", params: { processId, seq, stream, chunk: bytes.slice() } });
        return true;
      },
      exited: (processId, seq, exitCode, sandboxDenied) =>
        hear(processId, { method: "process/exited", params: { processId, seq, exitCode, sandboxDenied } }),
      closed: (processId, seq) => hear(processId, { method: "process/closed", params: { processId, seq } }),
    };
  }
}
