import type { Clock } from "../clock.ts";
import type { Log } from "../log.ts";
import type { EnvironmentInfo } from "../protocol/environment.ts";
import type { Params, RequestName, Result } from "../protocol/methods.ts";
import type { CallOptions, Calls } from "./calls.ts";
import type { ClientError } from "./client_error.ts";
import type { ConnectionCallOptions, ServerConnection } from "./server_connection.ts";
import type { Telemetry } from "./telemetry.ts";

/** What the parts and facades of a client may ask of the logical client, which outlives its connections. */
export interface Core extends Calls {
  readonly telemetry: Telemetry;
  readonly log: Log;
  readonly clock: Clock;
  /** Aborted when the client was disposed of. */
  readonly signal: AbortSignal;
  /** Once no connection will come any more: what everybody is told. */
  readonly failure: ClientError | undefined;

  /**
   * The connection for one call. While a lost one is being recovered it is waited for, or with `failFast` it is not.
   *
   * @throws {ClientError} `failure`; `unavailable` with `failFast`. Or the signal's reason.
   */
  connection(signal?: AbortSignal): Promise<ServerConnection>;
  /** Whether it is the installed one, and alive. */
  isCurrent(connection: ServerConnection): boolean;

  /**
   * One call over the connection of that moment; it is never repeated.
   *
   * @throws {ClientError} See {@linkcode ServerConnection.call} and {@linkcode Core.connection}.
   */
  call<M extends RequestName>(method: M, params: Params<M>, options?: ConnectionCallOptions): Promise<Result<M>>;
  /**
   * The same, repeated with the same parameters as long as connections are lost under it and others come: for what the
   * server does once however often it hears it.
   */
  callUntilAnswered<M extends RequestName>(
    method: M,
    params: Params<M>,
    options?: ConnectionCallOptions,
  ): Promise<Result<M>>;

  /** Asked once in the client's life, if `initialize` did not tell it. */
  info(options?: CallOptions): Promise<EnvironmentInfo>;
  /** Whether the server announces our extensions. */
  hasExtensions(): Promise<boolean>;
}

/** What one process needs of it; it can be had without any connection as well. */
export type ProcessCore = Pick<
  Core,
  "call" | "callUntilAnswered" | "hasExtensions" | "failure" | "signal" | "clock" | "log"
>;
