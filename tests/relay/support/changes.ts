/** How long something that must happen may take, in milliseconds. Generous: it is no measure of speed. */
const PATIENCE_MS = 20_000;

/** Lets tests wait for what the test world has seen, without looking again and again. */
export class Changes {
  readonly #waiting = new Set<() => void>();

  /** To be called after each change. */
  notify(): void {
    for (const look of [...this.#waiting]) look();
  }

  /**
   * The first value of `look` that is not undefined or false; it looks at once and after each change.
   *
   * @param what For the failure: what never came.
   * @throws {Error} When patience ends.
   */
  async until<T>(what: string, look: () => T | undefined | false, patienceMs = PATIENCE_MS): Promise<T> {
    const { promise, resolve, reject } = Promise.withResolvers<T>();
    const attempt = () => {
      try {
        const found = look();
        if (found !== undefined && found !== false) resolve(found);
      } catch (error) {
        reject(error);
      }
    };
    const timer = setTimeout(() => reject(new Error(`waited in vain for ${what}`)), patienceMs);
    this.#waiting.add(attempt);
    attempt();
    try {
      return await promise;
    } finally {
      clearTimeout(timer);
      this.#waiting.delete(attempt);
    }
  }
}
