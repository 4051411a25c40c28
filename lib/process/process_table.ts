import type { Clock } from "../clock.ts";
import { ExecError } from "../errors.ts";
import type { Log } from "../log.ts";
import type { Enforcement } from "../sandbox/sandbox.ts";
import type { Child, ChildEvents, LaunchSpec, ProcessBackend, StreamName } from "./child.ts";
import { ManagedProcess, type ReadQuery, type ReadResult } from "./managed_process.ts";
import type { StdinStatus } from "./process_stdin.ts";
import { type ProcessSummary, shortArgv } from "./process_summary.ts";
import { Retirement } from "./retirement.ts";

export { CLOSED_RETENTION_MS } from "./retirement.ts";

/** Who hears the processes of one session. Calls are synchronous and, per process, in the order of the numbers. */
export interface ProcessEvents {
  /** The view is valid during the call only. @returns false asks that process to pause until `resumeOutput`. */
  output(processId: string, seq: number, stream: StreamName, bytes: Uint8Array<ArrayBuffer>): boolean;
  exited(processId: string, seq: number, exitCode: number, sandboxDenied: boolean): void;
  closed(processId: string, seq: number): void;
}

/** What to start, and under which name. */
export interface StartSpec extends LaunchSpec {
  /** Any text, the empty one included; unique among the processes of the table. */
  readonly processId: string;
  /**
   * What the process was given as a sandbox, whether or not that confines anything; a failure may then be its doing.
   * Absent: `none`.
   */
  readonly sandboxType?: string;
  /**
   * Finds what is to confine the program, once its id is taken; null, or absent: nothing.
   *
   * @param signal Aborted when the start is given up.
   */
  readonly confine?: (signal: AbortSignal) => Promise<Enforcement | null>;
  /** The program is killed when it has run for so many milliseconds, at least 1; absent: never. */
  readonly timeLimitMs?: number;
}

export interface TableOptions {
  readonly backend: ProcessBackend;
  readonly clock: Clock;
  readonly events: ProcessEvents;
  readonly log: Log;
}

/** What became of a write. */
export type WriteStatus = StdinStatus | "unknownProcess" | "starting";

export type { ReadQuery, ReadResult };

/** One name in the table. Names can be used again; this object is what tells an older owner from a newer one. */
interface Entry {
  readonly processId: string;
  readonly process: ManagedProcess;
  /** While the process is starting: gives the start up and the name back. Null once it has started. */
  cancelStart: (() => void) | null;
}

/**
 * The processes of one session by their ids. There is no limit to their number but the machine's: each belongs to a
 * request of a client that may run programs anyway.
 *
 * A process is forgotten some time after it closed, see {@linkcode Retirement}. What it left in the background lives on
 * then; it is killed if the table ends earlier.
 */
export class ProcessTable implements Disposable {
  readonly #backend: ProcessBackend;
  readonly #clock: Clock;
  readonly #events: ProcessEvents;
  readonly #log: Log;
  readonly #entries = new Map<string, Entry>();
  /** Those that are closed. */
  readonly #retired: Retirement<Entry>;
  /** Processes whose output waits for `resumeOutput`. */
  readonly #paused = new Set<ManagedProcess>();
  #disposed = false;

  constructor(options: TableOptions) {
    this.#backend = options.backend;
    this.#clock = options.clock;
    this.#events = options.events;
    this.#log = options.log;
    this.#retired = new Retirement(options.clock, (entry) => this.#forget(entry));
  }

  /**
   * Starts a program. Its events can come as soon as this has returned or resolved. A failed start leaves no trace.
   *
   * @param wanted Aborted when nobody waits for the start any more: it is given up, unless the program runs by then.
   * @returns A promise only if the back end needs one; until it resolves the id is taken and the process `starting`.
   * @throws {ExecError} `invalidParams` without argv; `invalidRequest` if the id is taken, or if the start was given up
   * or the process terminated while it was starting; otherwise what the back end throws.
   */
  start(spec: StartSpec, wanted?: AbortSignal): void | Promise<void> {
    if (this.#disposed) throw new Error("the process table has been disposed of");
    const { processId } = spec;
    if (spec.argv.length === 0) throw new ExecError("invalidParams", "argv must not be empty");
    if (this.#find(processId) !== undefined) {
      throw new ExecError("invalidRequest", `process ${processId} already exists`);
    }
    const entry = this.#reserve(spec);
    const givenUp = new AbortController();
    let launched: Child | Promise<Child>;
    try {
      launched = spec.confine === undefined
        ? this.#backend.launch(spec, entry.process)
        : this.#launchConfined(spec, spec.confine, entry.process, givenUp.signal);
    } catch (error) {
      this.#forget(entry);
      throw error;
    }
    if (launched instanceof Promise) {
      const finishing = this.#finishStart(entry, launched, givenUp);
      return wanted === undefined ? finishing : cancelUnwanted(entry, finishing, wanted);
    }
    entry.process.attach(launched);
  }

  /**
   * @throws {ExecError} `invalidRequest` if there is no such process, or not yet.
   * @throws The signal's reason if it is aborted while waiting.
   */
  read(query: ReadQuery & { readonly processId: string }, signal: AbortSignal): ReadResult | Promise<ReadResult> {
    return this.get(query.processId).read(query, signal);
  }

  /** See {@linkcode ManagedProcess.write}, which this adds two results to. */
  write(
    request: { readonly processId: string; readonly chunk: Uint8Array<ArrayBuffer>; readonly writeId: string | null },
    signal: AbortSignal,
  ): WriteStatus | Promise<WriteStatus> {
    const entry = this.#find(request.processId);
    if (entry === undefined) return "unknownProcess";
    if (entry.cancelStart !== null) return "starting";
    return entry.process.write(request.chunk, request.writeId, signal);
  }

  /** SIGINT to the group of a running process; nothing if there is none. */
  interrupt(processId: string): void {
    const entry = this.#find(processId);
    if (entry?.cancelStart === null) entry.process.signal("SIGINT");
  }

  /**
   * A process that has been started.
   *
   * @throws {ExecError} `invalidRequest` if there is no such process, or not yet.
   */
  get(processId: string): ManagedProcess {
    const process = this.known(processId);
    if (process === undefined) throw new ExecError("invalidRequest", `unknown process id ${processId}`);
    return process;
  }

  /** The same, undefined if there is no such process. @throws {ExecError} `invalidRequest` if it is starting. */
  known(processId: string): ManagedProcess | undefined {
    const entry = this.#find(processId);
    if (entry === undefined || entry.cancelStart === null) return entry?.process;
    throw new ExecError("invalidRequest", `process id ${processId} is starting`);
  }

  /** Every process that has been started and is not forgotten, in the order of the starts. */
  list(): ProcessSummary[] {
    const listed: ProcessSummary[] = [];
    for (const entry of this.#entries.values()) {
      if (entry.cancelStart === null && !this.#retired.isOver(entry)) listed.push(entry.process.summary);
    }
    return listed;
  }

  /** How long closed processes are kept, see {@linkcode Retirement.keepFor}. */
  keepClosedFor(ms: number): void {
    this.#retired.keepFor(ms);
  }

  /** Kills a running process, or cancels its start. @returns whether there was one. */
  terminate(processId: string): boolean {
    const entry = this.#find(processId);
    if (entry === undefined) return false;
    if (entry.cancelStart === null) return entry.process.terminate();
    entry.cancelStart();
    return true;
  }

  /** Lets every process go on that is held. */
  releaseHolds(): void {
    for (const { process, cancelStart } of this.#entries.values()) {
      if (cancelStart === null) process.hold(false);
    }
  }

  /** Lets every process read on whose output was refused, except while it is held. */
  resumeOutput(): void {
    const paused = [...this.#paused];
    this.#paused.clear();
    for (const process of paused) process.resume();
  }

  /** Kills every group, ends every start and every wait, and forgets everything; no event comes any more. */
  [Symbol.dispose](): void {
    if (this.#disposed) return;
    this.#disposed = true;
    const entries = [...this.#entries.values()];
    this.#entries.clear();
    this.#retired[Symbol.dispose]();
    this.#paused.clear();
    const started = entries.filter((entry) => entry.cancelStart === null);
    // Every group first, so that nobody has time to react to the end of another.
    for (const { process } of started) process.killGroup();
    for (const { process } of started) process[Symbol.dispose]();
    for (const entry of entries) entry.cancelStart?.();
  }

  /** The process of a name, unless its time is over. */
  #find(processId: string): Entry | undefined {
    const entry = this.#entries.get(processId);
    if (entry === undefined || !this.#retired.isOver(entry)) return entry;
    this.#forget(entry);
    return undefined;
  }

  #reserve(spec: StartSpec): Entry {
    const { processId, sandboxType = "none" } = spec;
    const process: ManagedProcess = new ManagedProcess({
      description: {
        processId,
        argv: shortArgv(spec.argv),
        tty: spec.tty,
        startedAtMs: Date.now(),
        sandboxType,
      },
      hasStdin: spec.tty || spec.pipeStdin,
      guessSandboxDenied: sandboxType !== "none",
      ...(spec.timeLimitMs === undefined ? {} : { timeLimitMs: spec.timeLimitMs }),
      clock: this.#clock,
      listener: {
        output: (seq, stream, bytes) => {
          const goOn = this.#events.output(processId, seq, stream, bytes);
          if (!goOn) this.#paused.add(process);
          return goOn;
        },
        exited: (seq, exitCode, sandboxDenied) => this.#events.exited(processId, seq, exitCode, sandboxDenied),
        closed: (seq) => {
          this.#events.closed(processId, seq);
          this.#retire(entry);
        },
      },
    });
    const entry: Entry = { processId, process, cancelStart: null };
    this.#entries.set(processId, entry);
    return entry;
  }

  async #launchConfined(
    spec: StartSpec,
    confine: NonNullable<StartSpec["confine"]>,
    events: ChildEvents,
    signal: AbortSignal,
  ): Promise<Child> {
    const enforcement = await confine(signal);
    signal.throwIfAborted();
    return enforcement === null
      ? await this.#backend.launch(spec, events)
      : await this.#backend.launchConfined(spec, enforcement, events, signal);
  }

  #finishStart(entry: Entry, launching: Promise<Child>, givenUp: AbortController): Promise<void> {
    return new Promise((resolve, reject) => {
      entry.cancelStart = () => {
        entry.cancelStart = null;
        this.#forget(entry);
        givenUp.abort();
        reject(new ExecError("invalidRequest", `process ${entry.processId} start was cancelled`));
        launching.then((child) => {
          entry.process.attach(child);
          entry.process[Symbol.dispose]();
        }, (error) => {
          this.#log.debug("a cancelled start failed by itself", { kind: error instanceof ExecError ? error.kind : "" });
        });
      };
      const isCancelled = (): boolean => entry.cancelStart === null;
      launching.then((child) => {
        if (isCancelled()) return;
        entry.cancelStart = null;
        entry.process.attach(child);
        resolve();
      }, (error) => {
        if (!isCancelled()) this.#forget(entry);
        reject(error);
      });
    });
  }

  /** Begins the time for which a closed process is kept. */
  #retire(entry: Entry): void {
    this.#paused.delete(entry.process);
    if (!this.#disposed) this.#retired.add(entry);
  }

  /** Removes a process, but never a newer one that has taken its name. */
  #forget(entry: Entry): void {
    this.#retired.delete(entry);
    if (this.#entries.get(entry.processId) === entry) this.#entries.delete(entry.processId);
  }
}

async function cancelUnwanted(entry: Entry, finishing: Promise<void>, wanted: AbortSignal): Promise<void> {
  const cancel = (): void => entry.cancelStart?.();
  wanted.addEventListener("abort", cancel, { once: true });
  try {
    await finishing;
  } finally {
    wanted.removeEventListener("abort", cancel);
  }
}
