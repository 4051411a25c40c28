import type { Log } from "../log.ts";
import { abortable } from "../abortable.ts";
import type { Carrier, OpenedConnection, OpenOptions } from "./carrier.ts";

/** Opens a client's connections, and knows when the last trace of them is gone. */
export class Dialer {
  readonly #carrier: Carrier;
  readonly #log: Log;
  /** Resolve when what was opened is gone; as many as there are connections that have not quite ended. */
  readonly #leavings = new Set<Promise<void>>();

  constructor(carrier: Carrier, log: Log) {
    this.#carrier = carrier;
    this.#log = log;
  }

  /**
   * @throws {ClientError} Why there is no connection. Or the signal's reason, at once, however long the carrier takes.
   */
  async open(options: OpenOptions): Promise<OpenedConnection> {
    const { signal } = options;
    signal.throwIfAborted();
    const opening = this.#carrier.open(options);
    try {
      const opened = await abortable(opening, signal);
      if (opened.gone !== undefined) this.#leave(opened.gone);
      return opened;
    } catch (error) {
      this.#leave(opening.then(discard, () => undefined));
      throw error;
    }
  }

  /** Resolves when nothing is left of what was opened. */
  async gone(): Promise<void> {
    while (this.#leavings.size > 0) await Promise.all(this.#leavings);
  }

  #leave(leaving: Promise<void>): void {
    const left = leaving
      .catch((error) => this.#log.warn("a connection did not go as it should", { error: String(error) }))
      .finally(() => this.#leavings.delete(left));
    this.#leavings.add(left);
  }
}

async function discard({ connection, gone }: OpenedConnection): Promise<void> {
  connection.close(undefined, "no longer wanted");
  await gone;
}
