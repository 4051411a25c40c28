import type { Log } from "../log.ts";

/** Lines that are kept; a program that fails says why in the last ones. */
const MAX_LINES = 3;

/** Hears what a server that is our child says on its stderr, for the case that it is of no use. */
export class LastWords {
  readonly #lines: string[] = [];

  /** For the carrier, which logs each line. */
  readonly log: Log = {
    error() {},
    warn() {},
    info() {},
    debug: (_message, fields) => {
      if (typeof fields?.["line"] !== "string") return;
      this.#lines.push(fields["line"].trim());
      if (this.#lines.length > MAX_LINES) this.#lines.shift();
    },
  };

  /** Empty: nothing was said. */
  get text(): string {
    return this.#lines.join(" / ");
  }
}
