import type { Carrier } from "./carrier.ts";
import { type ClientOptions, ExecClient } from "./client.ts";
import { attemptError, ClientError } from "./client_error.ts";
import type { Telemetry } from "./telemetry.ts";

export interface AttemptOptions extends Omit<ClientOptions, "signal" | "trace"> {
  readonly telemetry: Telemetry;
  /** Takes the client, unless the attempt was given up before. */
  install(client: ExecClient, attempt: ConnectionAttempt): void;
}

/** One attempt of a lazy client to make a client, shared by all who wait for one. */
export class ConnectionAttempt {
  /** @throws {ClientError} `attempt`, the same object for everybody. */
  readonly client: Promise<ExecClient>;
  readonly #carrier: Carrier;
  readonly #aborter = new AbortController();
  #executor: string | undefined;

  constructor(carrier: Carrier, options: AttemptOptions) {
    this.#carrier = carrier;
    this.client = this.#connect(options);
  }

  /** Who executes at the other end of its newest connection, where the carrier tells. */
  get executor(): string | undefined {
    return this.#executor;
  }

  /** It will not install a client any more, however far it has come. */
  giveUp(reason: ClientError): void {
    this.#aborter.abort(reason);
  }

  async #connect({ install, ...options }: AttemptOptions): Promise<ExecClient> {
    const { signal } = this.#aborter;
    const span = options.telemetry.startSpan?.({
      name: "codex.exec_server.remote.connect",
      kind: "internal",
      attributes: {},
      parent: undefined,
    });
    try {
      const trace = span === undefined ? {} : { trace: span.context };
      const client = await ExecClient.connect(this.#watched(), { ...options, ...trace, signal });
      if (signal.aborted) {
        await client.end(signal.reason);
        throw signal.reason;
      }
      install(client, this);
      return client;
    } catch (error) {
      throw error instanceof ClientError ? attemptError(error) : error;
    } finally {
      span?.end();
    }
  }

  #watched(): Carrier {
    const carrier = this.#carrier;
    return {
      label: carrier.label,
      resume: carrier.resume,
      renewable: carrier.renewable,
      use: carrier.use?.bind(carrier),
      open: async (options) => {
        const opened = await carrier.open(options);
        this.#executor = opened.executor;
        return opened;
      },
    };
  }
}
