import type { Clock, Timer } from "../clock.ts";
import { ExecError } from "../errors.ts";
import { afterLong } from "../long_timer.ts";
import type { Child, ChildEvents, StreamName, TerminalSize } from "./child.ts";
import { LongPolls } from "./long_polls.ts";
import { type OutputChunk, OutputLog } from "./output_log.ts";
import { ProcessStdin, type StdinStatus } from "./process_stdin.ts";
import type { ProcessDescription, ProcessEnd, ProcessSummary } from "./process_summary.ts";
import { looksDenied } from "./sandbox_denial.ts";
import type { SignalName } from "./signal_name.ts";

/** Who hears a process: calls are synchronous, in order, numbered from 1 without gaps; `closed` is the last. */
export interface ProcessListener {
  /** The view is valid during the call only. @returns false asks for a pause until `resume`. */
  output(seq: number, stream: StreamName, bytes: Uint8Array<ArrayBuffer>): boolean;
  exited(seq: number, exitCode: number, sandboxDenied: boolean): void;
  closed(seq: number): void;
}

export interface ProcessOptions {
  readonly description: ProcessDescription;
  /** Whether bytes can be written to the program: it has a terminal, or a pipe that is kept open. */
  readonly hasStdin: boolean;
  /** Whether to guess, at the exit, that a sandbox denied the program something. */
  readonly guessSandboxDenied: boolean;
  /** The program is killed when it has run for so many milliseconds, at least 1; absent: never. */
  readonly timeLimitMs?: number;
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

/**
 * A running program and what it said: its output, its exit and the end of its streams as one numbered line of events.
 * It goes on numbering and remembering whether or not anybody listens, and can be read until it is let go.
 */
export class ManagedProcess implements ChildEvents, Disposable {
  readonly #options: ProcessOptions;
  readonly #listener: ProcessListener;
  readonly #log = new OutputLog();
  readonly #polls: LongPolls;
  readonly #stdin: ProcessStdin;
  /** Set by `attach`, which comes before every other call. */
  #child!: Child;
  #nextSeq = 1;
  #end: ProcessEnd | null = null;
  #sandboxDenied = false;
  #closed = false;
  #timeLimit: Timer | null = null;
  /** Why we have killed the program. */
  #killedFor: "timeLimit" | "terminated" | null = null;
  /** The listener asked for a pause. */
  #paused = false;
  #held = false;
  #disposed = false;

  constructor(options: ProcessOptions) {
    this.#options = options;
    this.#listener = options.listener;
    this.#stdin = new ProcessStdin(options.hasStdin);
    this.#polls = new LongPolls(options.clock);
  }

  /** Hands over the child whose events come here. */
  attach(child: Child): void {
    this.#child = child;
    const { clock, timeLimitMs } = this.#options;
    if (timeLimitMs !== undefined) this.#timeLimit = afterLong(clock, timeLimitMs, () => this.#kill("timeLimit"));
  }

  get summary(): ProcessSummary {
    const end = this.#end;
    return {
      ...this.#options.description,
      pid: this.#child.pid,
      hasStdin: end === null && this.#stdin.open,
      end,
      closed: this.#closed,
    };
  }

  output(stream: StreamName, bytes: Uint8Array<ArrayBuffer>): boolean {
    if (this.#disposed) return true;
    const seq = this.#nextSeq++;
    this.#log.append(seq, stream, bytes);
    const goOn = this.#listener.output(seq, stream, bytes);
    if (!goOn) this.#paused = true;
    this.#polls.wake();
    return goOn && !this.#held;
  }

  exited(exitCode: number, signal: string | null): void {
    if (this.#disposed) return;
    this.#timeLimit?.cancel();
    // It may have ended by itself, or by another signal, just before we killed it.
    const ours = signal === "SIGKILL" ? this.#killedFor : null;
    this.#end = { exitCode, signal, reason: ours ?? (signal === null ? "exited" : "signaled") };
    this.#sandboxDenied = this.#options.guessSandboxDenied && looksDenied(exitCode, this.#log);
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
   * @throws {ExecError} `internal` if the process was killed by us.
   * @throws The signal's reason if it is aborted while waiting; then nothing was queued and the id is free.
   */
  write(
    chunk: Uint8Array<ArrayBuffer>,
    writeId: string | null,
    signal: AbortSignal,
  ): StdinStatus | Promise<StdinStatus> {
    return this.#stdin.write(this.#closed ? null : this.#child, chunk, writeId, signal);
  }

  /**
   * Ends the stdin behind what was written before.
   *
   * @throws {ExecError} `invalidRequest` if it is a terminal.
   */
  closeStdin(): StdinStatus {
    const { tty, processId } = this.#options.description;
    if (tty) {
      const reason = `process ${processId} has a terminal, whose input has no end: write its end-of-file character`;
      throw new ExecError("invalidRequest", reason);
    }
    return this.#stdin.end(this.#closed ? null : this.#child);
  }

  /**
   * Changes the size of the program's terminal; nothing once that is gone.
   *
   * @throws {ExecError} `invalidRequest` if it never had one.
   */
  resize(size: TerminalSize): void {
    const { tty, processId } = this.#options.description;
    if (!tty) throw new ExecError("invalidRequest", `process ${processId} has no terminal`);
    this.#child.resize(size);
  }

  /**
   * Sends a signal to the program's group.
   *
   * @returns false once the program has exited; then its background children are left alone too.
   * @throws {ExecError} `internal` if the group may not be signalled: it has changed its user.
   */
  signal(name: SignalName): boolean {
    if (this.#end !== null) return false;
    try {
      return this.#child.signal(name);
    } catch (error) {
      if (!(error instanceof Deno.errors.PermissionDenied)) throw error;
      throw new ExecError("internal", "failed to signal process: Operation not permitted (os error 1)", {
        cause: error,
      });
    }
  }

  /** Kills the program's group. @returns false if the program had exited already; then nothing is done. */
  terminate(): boolean {
    if (this.#end !== null) return false;
    this.#kill("terminated");
    return true;
  }

  /** Reads on after the listener asked for a pause. */
  resume(): void {
    this.#paused = false;
    if (!this.#held) this.#child.resume();
  }

  /**
   * While held the program's output is not read, except for one chunk of each stream and for what the kernel holds when
   * the program exits; a program that says more waits.
   */
  hold(on: boolean): void {
    if (on === this.#held) return;
    this.#held = on;
    if (!on && !this.#paused) this.#child.resume();
  }

  /** For the server's own end: SIGKILL to whatever is left of the group, synchronously. */
  killGroup(): void {
    this.#child.killGroup();
  }

  /** Kills what is left of the group and ends every wait; no event comes any more. */
  [Symbol.dispose](): void {
    if (this.#disposed) return;
    this.#disposed = true;
    this.#timeLimit?.cancel();
    this.#stdin.stop();
    this.#polls[Symbol.dispose]();
    this.#child[Symbol.dispose]();
  }

  #hasNewsAfter(seq: number): boolean {
    return this.#log.lastSeq > seq || this.#closed || (this.#end !== null && seq < this.#nextSeq - 1);
  }

  #present({ afterSeq, maxBytes }: ReadQuery): ReadResult {
    const chunks = this.#log.after(afterSeq, maxBytes);
    const last = chunks.at(-1);
    return {
      chunks,
      nextSeq: maxBytes !== null && last !== undefined ? last.seq + 1 : this.#nextSeq,
      exited: this.#end !== null,
      exitCode: this.#end?.exitCode ?? null,
      closed: this.#closed,
      sandboxDenied: this.#sandboxDenied,
    };
  }

  #kill(reason: "timeLimit" | "terminated"): void {
    this.#killedFor ??= reason;
    this.#stdin.stop();
    this.#child.terminate();
  }
}
