import type { Log } from "../log.ts";
import { abortable } from "../abortable.ts";
import { type ClientError, unavailable } from "./client_error.ts";
import type { ServerConnection } from "./server_connection.ts";

/** What the listeners for it are told. */
export type ConnectionState = "connected" | "disconnected";

type State =
  | { readonly name: "connected"; readonly connection: ServerConnection }
  | { readonly name: "recovering" }
  | { readonly name: "failed"; readonly error: ClientError };

export interface ClientStateOptions {
  /** Whether nobody waits while a lost connection is being recovered. */
  readonly failFast: boolean;
  readonly log: Log;
  /** Told of changes only; the first one is `connected`. */
  readonly onState: (state: ConnectionState) => void;
}

/** Whether a client has a connection, will have another, or never will; and those who wait to know. */
export class ClientState {
  readonly #options: ClientStateOptions;
  #state: State = { name: "recovering" };
  /** Resolved at the next change. */
  #changed = Promise.withResolvers<void>();
  #published: ConnectionState = "disconnected";

  constructor(options: ClientStateOptions) {
    this.#options = options;
  }

  get name(): State["name"] {
    return this.#state.name;
  }

  /** The installed connection; undefined while there is none. */
  get current(): ServerConnection | undefined {
    return this.#state.name === "connected" ? this.#state.connection : undefined;
  }

  get failure(): ClientError | undefined {
    return this.#state.name === "failed" ? this.#state.error : undefined;
  }

  /** @throws {ClientError} There will be none; or it is not there, and nobody waits. Or the signal's reason. */
  async connection(signal: AbortSignal | undefined): Promise<ServerConnection> {
    for (;;) {
      signal?.throwIfAborted();
      if (this.#state.name === "connected") return this.#state.connection;
      if (this.#state.name === "failed") throw this.#state.error;
      if (this.#options.failFast) throw unavailable("exec-server environment is recovering");
      await abortable(this.#changed.promise, signal);
    }
  }

  connected(connection: ServerConnection): void {
    this.#change({ name: "connected", connection });
  }

  recovering(): void {
    this.#change({ name: "recovering" });
    this.publish("disconnected");
  }

  /** The last change there is. */
  failed(error: ClientError): void {
    this.#change({ name: "failed", error });
    this.publish("disconnected");
  }

  /** Tells the listener, if it is news. */
  publish(state: ConnectionState): void {
    if (state === this.#published) return;
    this.#published = state;
    try {
      this.#options.onState(state);
    } catch (error) {
      const stack = error instanceof Error ? error.stack : String(error);
      this.#options.log.error("a listener for the state failed", { error: stack });
    }
  }

  #change(state: State): void {
    this.#state = state;
    this.#changed.resolve();
    this.#changed = Promise.withResolvers();
  }
}
