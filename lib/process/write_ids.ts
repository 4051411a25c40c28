/** Accepted write ids that a process remembers. Source: the reference's figure. */
export const REMEMBERED_WRITE_IDS = 4096;

/**
 * Lets a client repeat a write whose answer it missed: what was accepted under an id is not applied again. Past
 * {@linkcode REMEMBERED_WRITE_IDS} the oldest id is forgotten.
 *
 * A write that waits for room has not been accepted yet; a twin that arrives meanwhile (requests may run concurrently)
 * waits for its outcome. There are never more waiting writes than requests that may run at once.
 */
export class WriteIds {
  #accepted = new Set<string>();
  #waiting = new Map<string, Promise<void>>();

  /** Whether a write with this id was accepted and is still remembered. */
  has(id: string): boolean {
    return this.#accepted.has(id);
  }

  /** Resolves when the write with this id that is waiting for room has been accepted or given up; undefined: none is. */
  settled(id: string): Promise<void> | undefined {
    return this.#waiting.get(id);
  }

  /** Remembers an accepted id. */
  remember(id: string): void {
    this.#accepted.add(id);
    if (this.#accepted.size <= REMEMBERED_WRITE_IDS) return;
    for (const oldest of this.#accepted) {
      this.#accepted.delete(oldest);
      break;
    }
  }

  /** Announces a write that waits for room. Its id is remembered if `outcome` fulfils, and free again if it rejects. */
  track(id: string, outcome: Promise<void>): void {
    const settle = (accepted: boolean): void => {
      this.#waiting.delete(id);
      if (accepted) this.remember(id);
    };
    this.#waiting.set(id, outcome.then(() => settle(true), () => settle(false)));
  }
}
