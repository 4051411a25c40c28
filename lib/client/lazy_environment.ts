import type { EnvironmentInfo } from "../protocol/environment.ts";
import type { Params, RequestName, Result } from "../protocol/methods.ts";
import type { CallOptions, Calls } from "./calls.ts";
import type { Carrier } from "./carrier.ts";
import type { ConnectionState } from "./client_state.ts";
import { isDeferred } from "./deferred.ts";
import type { Environment, EnvironmentStatus } from "./environment.ts";
import type { Fetch } from "./fetch.ts";
import type { Files } from "./files.ts";
import { LazyClient, type LazyClientOptions } from "./lazy_client.ts";
import { LazyFiles } from "./lazy_files.ts";
import type { CollectedOutput, ExecProcess, RunOptions, StartOptions } from "./process.ts";

export interface LazyEnvironmentOptions extends Omit<LazyClientOptions, "id"> {
  readonly id: string;
}

/**
 * An environment behind a carrier that connects when it is first used, and makes a fresh session after one has failed for
 * good. What belongs to a session, its processes and streams, stays with it and fails with it.
 */
export class LazyEnvironment implements Environment, Calls {
  readonly id: string;
  readonly files: Files;
  readonly fetch: Fetch;
  /** Whether it cannot be reached before its owner says so. */
  readonly isDeferred: boolean;
  readonly #client: LazyClient;

  constructor(carrier: Carrier, options: LazyEnvironmentOptions) {
    this.id = options.id;
    this.isDeferred = isDeferred(carrier);
    this.#client = new LazyClient(carrier, options);
    this.files = new LazyFiles(this.#client);
    this.fetch = async (input, init) => {
      const signal = init?.signal ?? (input instanceof Request ? input.signal : undefined);
      return await (await this.#client.get({ signal })).fetch(input, init);
    };
  }

  /** Whether it is connected just now. */
  get connectionState(): ConnectionState {
    return this.#client.states.current;
  }

  /** Tells of every change, over all sessions. @returns Ends the subscription. */
  onConnectionState(listener: (state: ConnectionState) => void): () => void {
    return this.#client.states.subscribe(listener);
  }

  /** Begins to connect, unless that was done before. Whoever uses it next is told of a failure, or tries again. */
  connectInBackground(): void {
    this.#client.connectInBackground();
  }

  /** Resolves when it can be used. @throws {ClientError} Why it cannot. Or the signal's reason. */
  async waitUntilReady(options: CallOptions = {}): Promise<void> {
    await this.#client.spanned("exec_server.environment.wait_until_ready", options, () => this.#client.get(options));
  }

  /**
   * After its executor was replaced on purpose: goes on with the new one. Only behind a registry.
   *
   * @throws {ClientError} See {@linkcode LazyClient.refresh}.
   */
  async refreshConnection(options: CallOptions = {}): Promise<void> {
    const { signal } = options;
    await this.#client.spanned(
      "exec_server.environment.refresh_connection",
      options,
      () => this.#client.refresh(signal),
    );
  }

  status(options?: CallOptions): Promise<EnvironmentStatus> {
    return this.#client.status(options);
  }

  async info(options?: CallOptions): Promise<EnvironmentInfo> {
    return await (await this.#client.get(options)).info(options);
  }

  async start(options: StartOptions): Promise<ExecProcess> {
    return await (await this.#client.get(options)).start(options);
  }

  async run(options: RunOptions): Promise<CollectedOutput> {
    return await (await this.#client.get(options)).run(options);
  }

  async call<M extends RequestName>(method: M, params: Params<M>, options?: CallOptions): Promise<Result<M>> {
    return await (await this.#client.get(options)).call(method, params, options);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#client[Symbol.asyncDispose]();
  }
}
