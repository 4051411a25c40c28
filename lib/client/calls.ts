import type { TraceContext } from "../observer.ts";
import type { Params, RequestName, Result } from "../protocol/methods.ts";

/** What one call may be given besides its parameters. */
export interface CallOptions {
  /** Gives up waiting, with the signal's reason; the server still does what it was asked. */
  readonly signal?: AbortSignal;
  /** Milliseconds for the answer; without it a call waits as long as the connection lives. */
  readonly timeoutMs?: number;
  /** The caller's trace; without it the telemetry's current one. Null: a trace of its own. */
  readonly trace?: TraceContext | null;
}

/** Where the facades for files and HTTP send their calls: a client, a lazy one, or this process itself. */
export interface Calls {
  /** @throws {ClientError} What the server answered, or why no answer came. */
  call<M extends RequestName>(method: M, params: Params<M>, options?: CallOptions): Promise<Result<M>>;
}
