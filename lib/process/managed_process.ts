import type { Clock } from "../clock.ts";
import { ExecError } from "../errors.ts";
import type { Child, ChildEvents, StreamName } from "./child.ts";
import { LongPolls } from "./long_polls.ts";
import { type OutputChunk, OutputLog } from "./output_log.ts";
import { looksDenied } from "./sandbox_denial.ts";
import { WriteIds } from "./write_ids.ts";

/** Who hears a process: calls are synchronous, in order, numbered from 1 without gaps; `closed` is the last. */
export interface ProcessListener {
  /** The view is valid during the call only. @returns false asks for a pause until `resume`. */
  output(seq: number, stream: StreamName, bytes: Uint8Array<ArrayBuffer>): boolean;
  exited(seq: number, exitCode: number, sandboxDenied: boolean): void;
  closed(seq: number): void;
}

export interface ProcessOptions {
  /** Whether bytes can be written to the program: it has a terminal, or a pipe that is kept open. */
  readonly hasStdin: boolean;
  /** Whether to guess, at the exit, that a sandbox denied the program something. */
  readonly guessSandboxDenied: boolean;
  readonly clock: Clock;
  readonly listener: ProcessListener;
}

export interface ReadQuery {
  /** Only chunks with a larger number; 0: from the oldest that is kept. */
  readonly afterSeq: number;
  /** Most bytes of output, except that the first chunk always comes whole; null: no bound but the log's own. */
  readonly maxBytes: number | null;
  /** How long to wait for news if there is none, in ms; no upper bound. */
  readonly waitMs: number;
}

/** What a process has said after a cursor, and its present state, whatever the cursor. */
export interface ReadResult {
  readonly chunks: OutputChunk[];
  /**
   * With `maxBytes` and chunks: one more than the last of them. Otherwise the number that the next event will get.
   * The next cursor is one less.
   */
  readonly nextSeq: number;
  readonly exited: boolean;
  readonly exitCode: number | null;
  readonly closed: boolean;
  readonly sandboxDenied: boolean;
}

/** `accepted` promises nothing: the program may be gone, or not read its stdin. `stdinClosed`: it never had one. */
export type StdinStatus = "accepted" | "stdinClosed";

/**
 * A running program and what it said: its output, its exit and the end of its streams as one numbered line of events.
 * It goes on numbering and remembering whether or not anybody listens, and can be read until it is let go.
 */
export class ManagedProcess implements ChildEvents, Disposable {
  readonly #hasStdin: boolean;
  readonly #guessSandboxDenied: boolean;
  readonly #listener: ProcessListener;
  readonly #log = new OutputLog();
  readonly #polls: LongPolls;
  readonly #writeIds = new WriteIds();
  /** How to fail each write that waits for room; bounded by the requests that may run at once. */
  readonly #waitingWrites = new Set<(reason: ExecError) => void>();
  /** Set by `attach`, which comes before every other call. */
  #child!: Child;
  #nextSeq = 1;
  #exitCode: number | null = null;
  #sandboxDenied = false;
  #closed = false;
  #terminated = false;
  #disposed = false;

  constructor(options: ProcessOptions) {
    this.#hasStdin = options.hasStdin;
    this.#guessSandboxDenied = options.guessSandboxDenied;
    this.#listener = options.listener;
    this.#polls = new LongPolls(options.clock);
  }

  /** Hands over the child whose events come here. */
  attach(child: Child): void {
    this.#child = child;
  }

  output(stream: StreamName, bytes: Uint8Array<ArrayBuffer>): boolean {
    if (this.#disposed) return true;
    const seq = this.#nextSeq++;
    this.#log.append(seq, stream, bytes);
    const goOn = this.#listener.output(seq, stream, bytes);
    this.#polls.wake();
    return goOn;
  }

  exited(exitCode: number): void {
    if (this.#disposed) return;
    this.#exitCode = exitCode;
    this.#sandboxDenied = this.#guessSandboxDenied && looksDenied(exitCode, this.#log);
    this.#listener.exited(this.#nextSeq++, exitCode, this.#sandboxDenied);
    this.#polls.wake();
  }

  closed(): void {
    if (this.#disposed) return;
    this.#closed = true;
    this.#listener.closed(this.#nextSeq++);
    this.#polls.wake();
  }

  /**
   * Answers at once if there is a chunk after the cursor, if the process is closed, or if it has exited and that is
   * news to the cursor; otherwise when one of these comes true or the time is over.
   *
   * @throws The signal's reason if it is aborted while waiting.
   */
  read(query: ReadQuery, signal: AbortSignal): ReadResult | Promise<ReadResult> {
    const hasNews = (): boolean => this.#hasNewsAfter(query.afterSeq);
    if (query.waitMs <= 0 || this.#disposed || hasNews()) return this.#present(query);
    return this.#polls.wait(hasNews, query.waitMs, signal).then(() => this.#present(query));
  }

  /**
   * Queues bytes for the program's stdin, once per write id; null: every time.
   *
   * @returns A promise only while the queue is full.
   * @throws {ExecError} `internal` if the process was terminated.
   * @throws The signal's reason if it is aborted while waiting; then nothing was queued and the id is free.
   */
  write(
    chunk: Uint8Array<ArrayBuffer>,
    writeId: string | null,
    signal: AbortSignal,
  ): StdinStatus | Promise<StdinStatus> {
    if (!this.#hasStdin) return "stdinClosed";
    if (writeId !== null) {
      if (this.#writeIds.has(writeId)) return "accepted";
      const twin = this.#writeIds.settled(writeId);
      if (twin !== undefined) return abortable(twin, signal).then(() => this.write(chunk, writeId, signal));
    }
    if (this.#terminated || this.#disposed) throw writeFailure();
    const queued = this.#closed ? undefined : this.#child.write(chunk, signal);
    if (queued === undefined) {
      if (writeId !== null) this.#writeIds.remember(writeId);
      return "accepted";
    }
    const outcome = this.#unlessStopped(queued);
    if (writeId !== null) this.#writeIds.track(writeId, outcome);
    return outcome.then(() => "accepted");
  }

  /**
   * SIGINT to the program's group; nothing once the program has exited, its background children included.
   *
   * @throws {ExecError} `internal` if the group may not be signalled: it has changed its user.
   */
  interrupt(): void {
    if (this.#exitCode !== null) return;
    try {
      this.#child.signal("SIGINT");
    } catch (error) {
      if (!(error instanceof Deno.errors.PermissionDenied)) throw error;
      throw new ExecError("internal", "failed to signal process: Operation not permitted (os error 1)", {
        cause: error,
      });
    }
  }

  /** Kills the program's group. @returns false if the program had exited already; then nothing is done. */
  terminate(): boolean {
    if (this.#exitCode !== null) return false;
    this.#terminated = true;
    this.#failWaitingWrites();
    this.#child.terminate();
    return true;
  }

  /** Reads on after the listener asked for a pause. */
  resume(): void {
    this.#child.resume();
  }

  /** For the server's own end: SIGKILL to whatever is left of the group, synchronously. */
  killGroup(): void {
    this.#child.killGroup();
  }

  /** Kills what is left of the group and ends every wait; no event comes any more. */
  [Symbol.dispose](): void {
    if (this.#disposed) return;
    this.#disposed = true;
    this.#failWaitingWrites();
    this.#polls[Symbol.dispose]();
    this.#child[Symbol.dispose]();
  }

  #hasNewsAfter(seq: number): boolean {
    return this.#log.lastSeq > seq || this.#closed || (this.#exitCode !== null && seq < this.#nextSeq - 1);
  }

  #present({ afterSeq, maxBytes }: ReadQuery): ReadResult {
    const chunks = this.#log.after(afterSeq, maxBytes);
    const last = chunks.at(-1);
    return {
      chunks,
      nextSeq: maxBytes !== null && last !== undefined ? last.seq + 1 : this.#nextSeq,
      exited: this.#exitCode !== null,
      exitCode: this.#exitCode,
      closed: this.#closed,
      sandboxDenied: this.#sandboxDenied,
    };
  }

  /** A wait for room in the queue that also ends when the queue does. */
  #unlessStopped(queued: Promise<void>): Promise<void> {
    return new Promise((resolve, reject) => {
      this.#waitingWrites.add(reject);
      const settle = (act: () => void): void => {
        this.#waitingWrites.delete(reject);
        act();
      };
      queued.then(() => settle(resolve), (reason) => settle(() => reject(reason)));
    });
  }

  #failWaitingWrites(): void {
    for (const fail of this.#waitingWrites) fail(writeFailure());
    this.#waitingWrites.clear();
  }
}

function writeFailure(): ExecError {
  return new ExecError("internal", "failed to write to process stdin");
}

/** Waits for a promise that never rejects, or throws the signal's reason if it is aborted first. */
function abortable(promise: Promise<void>, signal: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    if (signal.aborted) return reject(signal.reason);
    const onAbort = (): void => reject(signal.reason);
    signal.addEventListener("abort", onAbort, { once: true });
    void promise.then(() => {
      signal.removeEventListener("abort", onAbort);
      resolve();
    });
  });
}
