import { ExecError } from "../errors.ts";
import type { WalkOptions } from "./operations.ts";

/** Most that a walk may be asked for. Source: the reference, which names these numbers in its refusal. */
const MAX_DEPTH = 64;
const MAX_DIRECTORIES = 10_000;
const MAX_ENTRIES = 50_000;

/** Most that the entries of one answer may cost, in bytes; an entry costs its URI and a flat charge. Source: the reference. */
const BUDGET_BYTES = 4 * 1024 * 1024;
const ENTRY_CHARGE_BYTES = 64;

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

/** What is left for the entries of one answer. */
export class WalkBudget {
  #left = BUDGET_BYTES;

  /** Whether there is room for an entry with this URI, which then is taken. */
  take(uri: string): boolean {
    const cost = uri.length + ENTRY_CHARGE_BYTES; // a URI is ASCII
    if (cost > this.#left) return false;
    this.#left -= cost;
    return true;
  }
}
