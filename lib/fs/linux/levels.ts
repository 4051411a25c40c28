import type { Steps } from "../steps.ts";

/** A place in a tree: the directories that are open there. */
export interface Level extends Disposable {
  /** Closes what is open; what is needed to go on here is kept. */
  park(): Steps<void>;
  /** Opens it again, from a level that lies directly below. */
  unpark(below: this): void;
}

/**
 * Most levels whose directories are open at a time. A tree may be deeper than a process may have descriptors, or a path
 * may be long: what lies further up is closed and found again on the way back.
 */
const MAX_OPEN_LEVELS = 16;

/** The way from the top of a tree down to where the work is. */
export class Levels<L extends Level> implements Disposable {
  readonly #levels: L[] = [];

  get depth(): number {
    return this.#levels.length;
  }

  /** The deepest one, which is open. */
  get current(): L {
    return this.#levels.at(-1)!;
  }

  *push(level: L): Steps<void> {
    this.#levels.push(level);
    // Every level was parked when the one that is now so far below it was pushed, so there is only one to look at.
    yield* this.#levels.at(-1 - MAX_OPEN_LEVELS)?.park() ?? [];
  }

  /** Goes back up by one. */
  pop(): void {
    using left = this.#levels.pop()!;
    this.#levels.at(-1)?.unpark(left);
  }

  [Symbol.dispose](): void {
    for (const level of this.#levels.splice(0)) level[Symbol.dispose]();
  }
}
