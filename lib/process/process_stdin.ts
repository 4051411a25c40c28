import { ExecError } from "../errors.ts";
import type { Child } from "./child.ts";
import { WriteIds } from "./write_ids.ts";

/** `accepted` promises nothing: the program may be gone, or not read its stdin. `stdinClosed`: it has none (any more). */
export type StdinStatus = "accepted" | "stdinClosed";

/** What is written to one process: each write once per id, none after the end. */
export class ProcessStdin {
  readonly #exists: boolean;
  readonly #writeIds = new WriteIds();
  /** How to fail each write that waits for room; bounded by the requests that may run at once. */
  readonly #waitingWrites = new Set<(reason: ExecError) => void>();
  #ended = false;
  #stopped = false;

  /** @param exists Whether bytes can be written to the program at all. */
  constructor(exists: boolean) {
    this.#exists = exists;
  }

  /** Whether there is something to be written to, as far as we are concerned. */
  get open(): boolean {
    return this.#exists && !this.#ended && !this.#stopped;
  }

  /**
   * Queues bytes, once per write id; null: every time.
   *
   * @param child null: closed, and whatever is written vanishes.
   * @returns A promise only while the queue is full.
   * @throws {ExecError} `internal` after {@linkcode ProcessStdin.stop}.
   * @throws The signal's reason if it is aborted while waiting; then nothing was queued and the id is free.
   */
  write(
    child: Child | null,
    chunk: Uint8Array<ArrayBuffer>,
    writeId: string | null,
    signal: AbortSignal,
  ): StdinStatus | Promise<StdinStatus> {
    if (!this.#exists) return "stdinClosed";
    if (writeId !== null) {
      if (this.#writeIds.has(writeId)) return "accepted";
      const twin = this.#writeIds.settled(writeId);
      if (twin !== undefined) return abortable(twin, signal).then(() => this.write(child, chunk, writeId, signal));
    }
    if (this.#ended) return "stdinClosed";
    if (this.#stopped) throw writeFailure();
    const queued = child?.write(chunk, signal);
    if (queued === undefined) {
      if (writeId !== null) this.#writeIds.remember(writeId);
      return "accepted";
    }
    const outcome = this.#unlessStopped(queued);
    if (writeId !== null) this.#writeIds.track(writeId, outcome);
    return outcome.then(() => "accepted");
  }

  /** Ends it behind what was written before; again is the same as once. */
  end(child: Child | null): StdinStatus {
    if (!this.#exists) return "stdinClosed";
    if (!this.#ended && !this.#stopped) child?.closeStdin();
    this.#ended = true;
    return "accepted";
  }

  /** The program was killed: writes fail, those included that wait for room. */
  stop(): void {
    this.#stopped = true;
    for (const fail of this.#waitingWrites) fail(writeFailure());
    this.#waitingWrites.clear();
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
