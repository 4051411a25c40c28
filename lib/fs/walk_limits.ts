import { ExecError } from "../errors.ts";
import type { WalkOptions } from "./operations.ts";

/** Most that a walk may be asked for. Source: the reference, which names these numbers in its refusal. */
const MAX_DEPTH = 64;
const MAX_DIRECTORIES = 10_000;
const MAX_ENTRIES = 50_000;

/**
 * Most that one answer may cost, in bytes: each entry its URI, each error its URI and its message, and all of them a flat
 * charge. Source: asked of the reference.
 */
const BUDGET_BYTES = 4 * 1024 * 1024;
const CHARGE_BYTES = 64;

/** @throws {ExecError} `invalidRequest`, whatever there is at the path. */
export function checkWalkLimits(options: WalkOptions): void {
  const { maxDepth, maxDirectories, maxEntries } = options;
  if (maxDirectories === 0 || maxEntries === 0) {
    throw new ExecError("invalidRequest", "filesystem walk limits must be greater than zero");
  }
  if (maxDepth > MAX_DEPTH || maxDirectories > MAX_DIRECTORIES || maxEntries > MAX_ENTRIES) {
    throw new ExecError(
      "invalidRequest",
      `filesystem walk limits exceed maximums: depth=${MAX_DEPTH}, directories=${MAX_DIRECTORIES}, entries=${MAX_ENTRIES}`,
    );
  }
}

/** What is left for one answer. */
export class WalkBudget {
  #left = BUDGET_BYTES;

  /** Whether there is room for an entry with this URI, or an error with this message as well; it is taken then. */
  take(uri: string, message = ""): boolean {
    const cost = uri.length + message.length + CHARGE_BYTES; // both are ASCII
    if (cost > this.#left) return false;
    this.#left -= cost;
    return true;
  }
}
