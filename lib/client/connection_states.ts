import type { Log } from "../log.ts";
import type { ConnectionState } from "./client_state.ts";

/** Whether an environment is connected, over all of its clients, and whoever wants to be told of changes. */
export class ConnectionStates {
  readonly #log: Log;
  readonly #listeners = new Set<(state: ConnectionState) => void>();
  #current: ConnectionState = "disconnected";

  constructor(log: Log) {
    this.#log = log;
  }

  get current(): ConnectionState {
    return this.#current;
  }

  /** @returns Ends the subscription. */
  subscribe(listener: (state: ConnectionState) => void): () => void {
    // Its own identity: the same function may listen twice.
    const own = (state: ConnectionState) => listener(state);
    this.#listeners.add(own);
    return () => void this.#listeners.delete(own);
  }

  /** Tells of it if it is a change. */
  publish(state: ConnectionState): void {
    if (state === this.#current) return;
    this.#current = state;
    for (const listener of [...this.#listeners]) {
      try {
        listener(state);
      } catch (error) {
        const text = error instanceof Error ? error.stack ?? error.message : String(error);
        this.#log.error("a listener for connection states failed", { error: text });
      }
    }
  }
}
