/** Names what hangs: a wait that never ends is the one failure that says nothing by itself. */
export class Watchdog {
  readonly #pending = new Map<symbol, string>();

  /** Passes a promise on and knows its name while it is pending. */
  async watch<T>(name: string, promise: PromiseLike<T>): Promise<T> {
    const entry = Symbol(name);
    this.#pending.set(entry, name);
    try {
      return await promise;
    } finally {
      this.#pending.delete(entry);
    }
  }

  /** @throws {Error} That names everything that is pending, if `work` has not ended in time. */
  async within<T>(ms: number, work: Promise<T>): Promise<T> {
    const late = Promise.withResolvers<never>();
    const timer = setTimeout(() => {
      late.reject(new Error(`after ${ms / 1000} s there still hangs: ${[...this.#pending.values()].join("; ")}`));
    }, ms);
    try {
      return await Promise.race([work, late.promise]);
    } finally {
      clearTimeout(timer);
    }
  }
}
