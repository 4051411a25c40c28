import type { Keepalive } from "./keepalive.ts";

/** Counts what a socket was given and the system has not taken, and tells those who wait for it. */
export class SendBuffer {
  readonly #keepalive: Keepalive | undefined;
  #bytes = 0;
  #waiters: { readonly limit: number; readonly resolve: () => void }[] = [];
  #ended = false;

  /** @param keepalive Hears of the progress. */
  constructor(keepalive?: Keepalive) {
    this.#keepalive = keepalive;
  }

  get bytes(): number {
    return this.#bytes;
  }

  /** So many bytes are sent now. @returns What to call when the system has taken them, or never will. */
  add(bytes: number): () => void {
    this.#bytes += bytes;
    this.#keepalive?.writing();
    return () => this.#taken(bytes);
  }

  /** Resolves when at most `limit` bytes are left, or nothing is sent any more. Never rejects. */
  drainedTo(limit: number): Promise<void> {
    if (this.#ended || this.#bytes <= limit) return Promise.resolve();
    return new Promise((resolve) => this.#waiters.push({ limit, resolve }));
  }

  /** Nothing is sent any more. */
  end(): void {
    this.#ended = true;
    this.#bytes = 0;
    for (const { resolve } of this.#waiters.splice(0)) resolve();
  }

  #taken(bytes: number): void {
    if (this.#ended) return;
    this.#bytes -= bytes;
    this.#keepalive?.written(this.#bytes > 0);
    if (this.#waiters.length === 0) return;
    const ready = this.#waiters.filter(({ limit }) => this.#bytes <= limit);
    if (ready.length === 0) return;
    this.#waiters = this.#waiters.filter(({ limit }) => this.#bytes > limit);
    for (const { resolve } of ready) resolve();
  }
}
