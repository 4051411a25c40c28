import * as libc from "../../linux/libc.ts";
import { EAGAIN, EINTR } from "../../linux/errno.ts";
import { STDIN_QUEUE_CHUNKS } from "../child.ts";
import type { Watch } from "../../linux/poller.ts";

/** Bytes written in one turn of the event loop, so that a huge chunk for a fast reader lets others have their turn. */
const TURN_BYTES = 256 * 1024;

interface Waiter {
  readonly bytes: Uint8Array<ArrayBuffer>;
  queued(): void;
}

/** Writes to a program's stdin, in order, as fast as it reads. */
export class StdinWriter {
  readonly #watch: Watch;
  /** The first is being written; {@linkcode STDIN_QUEUE_CHUNKS} more may wait behind it. */
  readonly #queue: Uint8Array<ArrayBuffer>[] = [];
  /** Who found the queue full, first come first served. The caller bounds their number. */
  readonly #waiters = new Set<Waiter>();
  readonly #gone: () => void;
  #open = true;
  #ending = false;

  /**
   * @param watch The descriptor; its owner calls {@linkcode StdinWriter.writable}.
   * @param gone Called when the program turned out to read no more, or when the end has been reached.
   */
  constructor(watch: Watch, gone: () => void) {
    this.#watch = watch;
    this.#gone = gone;
  }

  /** See {@linkcode Child.write}. The bytes must not be changed afterwards. */
  write(bytes: Uint8Array<ArrayBuffer>, signal: AbortSignal): Promise<void> | undefined {
    if (!this.#open || this.#ending) return undefined;
    if (this.#queue.length > STDIN_QUEUE_CHUNKS) return this.#wait(bytes, signal);
    this.#queue.push(bytes);
    if (this.#queue.length === 1) this.#flush();
    return undefined;
  }

  /** What the watch calls. */
  writable(): void {
    this.#flush();
    for (const waiter of this.#waiters) {
      if (this.#queue.length > STDIN_QUEUE_CHUNKS) break;
      this.#waiters.delete(waiter);
      this.#queue.push(waiter.bytes);
      waiter.queued();
    }
    this.#listen();
    this.#endIfDone();
  }

  /** Takes no more, and calls `gone` when everybody who came before has been served. */
  end(): void {
    this.#ending = true;
    this.#endIfDone();
  }

  /** Drops what was not written yet, now and from now on. Whoever waits is told that all is well: so it is written. */
  stop(): void {
    if (!this.#open) return;
    this.#open = false;
    this.#queue.length = 0;
    for (const waiter of this.#waiters) waiter.queued();
    this.#waiters.clear();
    this.#listen();
  }

  #wait(bytes: Uint8Array<ArrayBuffer>, signal: AbortSignal): Promise<void> {
    if (signal.aborted) return Promise.reject(signal.reason);
    const { promise, resolve, reject } = Promise.withResolvers<void>();
    const aborted = (): void => {
      this.#waiters.delete(waiter);
      reject(signal.reason);
    };
    const waiter: Waiter = {
      bytes,
      queued: () => {
        signal.removeEventListener("abort", aborted);
        resolve();
      },
    };
    this.#waiters.add(waiter);
    signal.addEventListener("abort", aborted, { once: true });
    return promise;
  }

  #flush(): void {
    let budget = TURN_BYTES;
    while (this.#queue.length > 0 && budget > 0) {
      const bytes = this.#queue[0]!;
      const count = bytes.length === 0 ? 0 : libc.write(this.#watch.fd, bytes.subarray(0, budget));
      if (count === -EINTR) continue;
      if (count === -EAGAIN || (count === 0 && bytes.length > 0)) break;
      if (count < 0) {
        // EPIPE, EIO: nobody reads any more. The protocol has such bytes vanish silently.
        this.stop();
        this.#gone();
        return;
      }
      budget -= count;
      if (count === bytes.length) this.#queue.shift();
      else this.#queue[0] = bytes.subarray(count);
    }
    this.#listen();
  }

  #endIfDone(): void {
    if (!this.#ending || !this.#open || this.#queue.length > 0 || this.#waiters.size > 0) return;
    this.#open = false;
    this.#gone();
  }

  #listen(): void {
    if (!this.#watch.stopped) this.#watch.writing = this.#queue.length > 0;
  }
}
