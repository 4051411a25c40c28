import type { ReadResult } from "../protocol/process.ts";
import type { CallOptions } from "./calls.ts";
import { ClientError, unsupported } from "./client_error.ts";
import type { ServerEvent } from "./client_part.ts";
import type { ProcessCore } from "./core.ts";
import { EXIT_DETAILS_TIMEOUT_MS } from "./limits.ts";
import { OrderedEvents } from "./ordered_events.ts";
import { OutputHold } from "./output_hold.ts";
import type { NetworkDecider, ProcessEvent, TerminalSize } from "./process.ts";
import { ProcessFeed } from "./process_feed.ts";
import { ProcessInput, requireAccepted } from "./process_input.ts";
import type { ExitDetails, ProcessPort, ReadQuery } from "./process_port.ts";
import { lastSeqBefore } from "./replay.ts";
import { checkTerminalSize } from "./start_request.ts";

export type ProcessNotification = Extract<ServerEvent, { method: `process/${string}` }>;

export interface RemoteProcessOptions {
  /** Null: unknown. */
  readonly isTerminal: boolean | null;
  /** What the ids of writes begin with. */
  readonly writeIdPrefix: string;
  /** Answers the server's questions about the program's network, within a time. */
  readonly decider: { readonly decide: NetworkDecider; readonly timeoutMs: number } | null;
  /** Terminates it for certain; without it one try is certain enough. */
  readonly kill?: (process: RemoteProcess) => Promise<boolean>;
  /** Whether its id belongs to another process by now. */
  readonly isReplaced?: (process: RemoteProcess) => boolean;
  /** Nothing more is wanted of the server's events. */
  readonly released: (process: RemoteProcess) => void;
}

/** An ASCII EOT, which ends the input of a terminal. */
const END_OF_FILE = new Uint8Array([4]);

/** One process of the session, as the client keeps it: its events in order, and how to reach it. */
export class RemoteProcess implements ProcessPort {
  readonly feed: ProcessFeed;
  /** Whether its missed events are fetched after a lost connection: it is known to have begun. */
  recoverable = false;
  readonly #core: ProcessCore;
  readonly #options: RemoteProcessOptions;
  readonly #events = new OrderedEvents();
  readonly #input: ProcessInput;
  readonly #hold: OutputHold;
  readonly #undecided = new AbortController();
  /** Whether the server left out what it thinks of the sandbox's part in the exit. */
  #denialUnknown = false;

  constructor(core: ProcessCore, readonly id: string, options: RemoteProcessOptions) {
    this.#core = core;
    this.#options = options;
    this.#input = new ProcessInput(core, id, options.writeIdPrefix);
    this.#hold = new OutputHold(core, id);
    this.feed = new ProcessFeed(this);
  }

  /** Who answers for its network; undefined: nobody does, or not any more. */
  get decider(): { decide: NetworkDecider; timeoutMs: number; signal: AbortSignal } | undefined {
    const { decider } = this.#options;
    if (decider === null || this.#undecided.signal.aborted) return undefined;
    return { ...decider, signal: this.#undecided.signal };
  }

  get lastSeq(): number {
    return this.#events.lastSeq;
  }

  /** Whether its close was published: the server runs nothing of it any more. */
  get isOver(): boolean {
    return this.feed.ended && this.feed.failure === undefined;
  }

  /** Events may come now that can be published only when missed ones have been fetched. */
  awaitMissed(): void {
    this.#events.catchingUp = true;
  }

  /** An event as it came. What cannot be put in order fails the process, not its connection. */
  hear(notification: ProcessNotification): void {
    if (notification.method === "process/exited" && notification.params.sandboxDenied === null) {
      this.#denialUnknown = true;
    }
    try {
      this.#publish(this.#events.accept(toEvent(notification)));
    } catch (error) {
      if (!(error instanceof ClientError)) throw error;
      this.fail(error);
    }
  }

  /**
   * Fits in what was missed while there was no connection.
   *
   * @throws {ClientError} It does not fit.
   */
  recover(answer: ReadResult): void {
    this.#publish(this.#events.recover(answer));
    this.#events.catchingUp = false;
    this.#hold.reconnected();
  }

  /** The same for a process that an earlier client started: it begins with the oldest that the server still has. */
  beginWith(answer: ReadResult): void {
    this.#events.beginAfter(lastSeqBefore(answer));
    this.#publish(this.#events.recover(answer));
    this.#events.catchingUp = false;
  }

  /** No event is wanted any more; whoever waits for one gets this error. */
  fail(error: ClientError): void {
    this.feed.fail(error);
    this.release();
  }

  write(bytes: Uint8Array<ArrayBuffer>, options?: CallOptions): Promise<void> {
    this.#refuseIfGone();
    return this.#input.write(bytes, options);
  }

  async closeStdin(options: CallOptions = {}): Promise<void> {
    this.#refuseIfGone();
    if (this.#options.isTerminal === true) return await this.#input.write(END_OF_FILE, options);
    await this.#needExtensions("end the input of a program");
    const { status } = await this.#input.inTurn(
      () => this.#core.callUntilAnswered("execServer/process/closeStdin", { processId: this.id }, options),
      options.signal,
    );
    requireAccepted(this.id, status);
  }

  async interrupt(options?: CallOptions): Promise<void> {
    this.#refuseIfGone();
    await this.#core.call("process/signal", { processId: this.id, signal: "interrupt" }, options);
  }

  async signal(name: string, options?: CallOptions): Promise<void> {
    this.#refuseIfGone();
    if (await this.#core.hasExtensions()) {
      await this.#core.call("execServer/process/signal", { processId: this.id, signal: name }, options);
    } else if (name === "SIGINT") await this.interrupt(options);
    else if (name === "SIGKILL") await this.terminate(options);
    else throw unsupported(`this server cannot send ${name}: of all signals it has only SIGINT and SIGKILL`);
  }

  async resize(size: TerminalSize, options?: CallOptions): Promise<void> {
    this.#refuseIfGone();
    checkTerminalSize(size);
    await this.#needExtensions("change the size of a terminal");
    await this.#core.call("execServer/process/resize", { processId: this.id, size }, options);
  }

  async terminate(options: CallOptions = {}): Promise<boolean> {
    this.#undecided.abort(new ClientError("process", `process ${this.id} is terminated`));
    if (this.feed.exitEvent !== undefined) return false;
    const { running } = await this.#core.call("process/terminate", { processId: this.id }, {
      ...options,
      cleanup: true,
    });
    return running;
  }

  async kill(): Promise<boolean> {
    return await (this.#options.kill?.(this) ?? this.terminate());
  }

  /** A process that failed is answered for here: nobody who polls it waits forever. */
  async read(query: ReadQuery, options: CallOptions = {}): Promise<ReadResult> {
    if (this.feed.failure !== undefined) return this.#failedRead(this.feed.failure);
    this.#refuseIfGone();
    try {
      return await this.#core.callUntilAnswered("process/read", { processId: this.id, ...query }, options);
    } catch (error) {
      const { failure } = this.#core;
      if (failure === undefined || options.signal?.aborted) throw error;
      this.fail(failure);
      return this.#failedRead(failure);
    }
  }

  async end(): Promise<ExitDetails> {
    const processId = this.id;
    const options = { timeoutMs: EXIT_DETAILS_TIMEOUT_MS };
    let details: ExitDetails = {};
    try {
      if (this.#denialUnknown) {
        const query = { processId, afterSeq: this.lastSeq, maxBytes: 0, waitMs: 0 };
        const { sandboxDenied } = await this.#core.callUntilAnswered("process/read", query, options);
        details = { sandboxDenied };
      }
      if (await this.#core.hasExtensions()) {
        const { end } = await this.#core.callUntilAnswered("execServer/process/status", { processId }, options);
        if (end !== null) details = { ...details, signal: end.signal, reason: end.reason };
      }
    } catch (error) {
      this.#core.log.debug("details of an exit are not known", { process: processId, error: String(error) });
    }
    return details;
  }

  hold(on: boolean): void {
    this.#hold.set(on);
  }

  release(): void {
    this.#undecided.abort(new ClientError("process", `process ${this.id} was let go`));
    this.#options.released(this);
  }

  #publish(events: readonly ProcessEvent[]): void {
    for (const event of events) this.feed.publish(event);
    if (this.feed.ended) this.release();
  }

  /** What is meant for this process must not reach another. */
  #refuseIfGone(): void {
    if (this.feed.failure !== undefined) throw this.feed.failure;
    if (this.#options.isReplaced?.(this)) throw new ClientError("process", `process ${this.id} has ended`);
  }

  async #needExtensions(what: string): Promise<void> {
    if (!await this.#core.hasExtensions()) throw unsupported(`this server cannot ${what}`);
  }

  #failedRead({ message }: ClientError): ReadResult {
    // One more than the highest number seen, and one for the failure itself.
    const nextSeq = this.#events.highestSeq + 2;
    return { chunks: [], nextSeq, exited: true, exitCode: null, closed: true, failure: message, sandboxDenied: false };
  }
}

function toEvent({ method, params }: ProcessNotification): ProcessEvent {
  const { seq } = params;
  switch (method) {
    case "process/output":
      return { type: "output", seq, stream: params.stream, bytes: params.chunk };
    case "process/exited":
      return { type: "exited", seq, code: params.exitCode, sandboxDenied: params.sandboxDenied ?? false };
    case "process/closed":
      return { type: "closed", seq };
  }
}
