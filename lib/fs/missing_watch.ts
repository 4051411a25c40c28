/** Watches for what is missing: one of each connection at a time, known by its number. */

import type { FileOperations, NativePath } from "./operations.ts";

/** More paths than that are not watched. The reference's limit. */
export const MAX_MISSING_PATHS = 64;

/**
 * The one watch that a connection may have. Each has a number higher than all before; it takes the place of the watch
 * before it, even if there turns out to be nothing to wait for.
 */
export class MissingWatch implements Disposable {
  readonly #operations: Pick<FileOperations, "watchMissing">;
  #lastId = 0n;
  #active: Disposable | null = null;
  #ended = false;

  constructor(operations: Pick<FileOperations, "watchMissing">) {
    this.#operations = operations;
  }

  /**
   * Waits until one of the `missing` paths appears or `present` changes, see {@linkcode FileOperations.watchMissing}.
   *
   * @param id Has to be positive and higher than every one before; otherwise nothing is done.
   * @param missing At most 64 paths. Whoever has a path that this machine cannot have passes none at all.
   * @param changed Called at most once, and never again when a later call has taken the watch's place.
   * @returns Whether it waits.
   */
  watch(
    id: bigint,
    missing: readonly NativePath[],
    present: NativePath | null,
    changed: (id: bigint) => void,
  ): boolean {
    if (id <= this.#lastId || this.#ended) return false;
    this.#lastId = id;
    const previous = this.#active;
    this.#active = null;
    try {
      if (missing.length > 0 && missing.length <= MAX_MISSING_PATHS) {
        this.#active = this.#operations.watchMissing(
          missing,
          present,
          () => this.#changed(id, changed),
        );
      }
    } finally {
      previous?.[Symbol.dispose](); // only now: what both have in common need not be set up again
    }
    return this.#active !== null;
  }

  [Symbol.dispose](): void {
    this.#ended = true;
    this.#active?.[Symbol.dispose]();
    this.#active = null;
  }

  #changed(id: bigint, changed: (id: bigint) => void): void {
    if (this.#ended || id !== this.#lastId) return; // it happened to a watch whose place has just been taken
    this.#active = null;
    changed(id);
  }
}
