import type { Params, RequestName, Result } from "../protocol/methods.ts";
import type { FileCalls } from "./file_handle.ts";
import { MAX_FILE_CALLS } from "./limits.ts";
import { Permits } from "../permits.ts";
import type { ConnectionCallOptions } from "./server_connection.ts";

/** Calls of which {@linkcode MAX_FILE_CALLS} are made at once, and the others in turn; those that clean up do not wait. */
export class QueuedCalls implements FileCalls {
  readonly #calls: FileCalls;
  readonly #permits = new Permits(MAX_FILE_CALLS);

  constructor(calls: FileCalls) {
    this.#calls = calls;
  }

  call<M extends RequestName>(
    method: M,
    params: Params<M>,
    options: ConnectionCallOptions = {},
  ): Promise<Result<M>> {
    const call = () => this.#calls.call(method, params, options);
    return options.cleanup ? call() : this.#permits.during(call, options.signal);
  }
}
