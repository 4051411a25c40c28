import type { CallOptions } from "../client/calls.ts";
import { callTimeout, type ClientError, transportClosed } from "../client/client_error.ts";
import { asServerError } from "../client/exec_error.ts";
import type { Clock } from "../clock.ts";
import type { Log } from "../log.ts";
import type { Params, RequestName, Result } from "../protocol/methods.ts";

/** What one method does on this machine. */
export type Deed<M extends RequestName> = (
  params: Params<M>,
  signal: AbortSignal,
) => Result<M> | Promise<Result<M>>;

export type Deeds = { readonly [M in RequestName]?: Deed<M> };

/**
 * The protocol's methods as calls within this process: nothing is encoded, nothing can get lost, and what fails is told
 * as a server would.
 */
export class LocalCalls {
  readonly log: Log;
  readonly clock: Clock;
  /** Aborted when nothing may be called any more; what waits then fails. */
  readonly signal: AbortSignal;
  readonly #deeds: Deeds;

  /** @param ended Becomes {@linkcode signal}. */
  constructor(deeds: Deeds, { clock, log, ended }: { clock: Clock; log: Log; ended: AbortSignal }) {
    this.log = log;
    this.clock = clock;
    this.signal = ended;
    this.#deeds = deeds;
  }

  get failure(): ClientError | undefined {
    return this.signal.aborted ? transportClosed() : undefined;
  }

  hasExtensions(): Promise<boolean> {
    return Promise.resolve(true);
  }

  /** @throws {ClientError} What a server would answer. Or the signal's reason. */
  async call<M extends RequestName>(method: M, params: Params<M>, options: CallOptions = {}): Promise<Result<M>> {
    const { signal, timeoutMs } = options;
    if (this.failure !== undefined) throw this.failure;
    signal?.throwIfAborted();
    const deed: Deed<M> | undefined = this.#deeds[method];
    if (deed === undefined) throw new TypeError(`${method} needs a server`);
    using limits = new Limits(this.clock, signal, this.signal);
    if (timeoutMs !== undefined) limits.failAfter(timeoutMs, callTimeout(method, timeoutMs));
    try {
      return await Promise.race([deed(params, limits.signal), limits.failed]);
    } catch (error) {
      throw asServerError(error);
    }
  }

  callUntilAnswered<M extends RequestName>(method: M, params: Params<M>, options?: CallOptions): Promise<Result<M>> {
    return this.call(method, params, options);
  }
}

/** What may end one call early. */
class Limits implements Disposable {
  readonly #clock: Clock;
  readonly #sources: readonly AbortSignal[];
  readonly #aborter = new AbortController();
  readonly #failed = Promise.withResolvers<never>();
  readonly #onAbort: () => void;
  #timer: Disposable | undefined;

  constructor(clock: Clock, caller: AbortSignal | undefined, ended: AbortSignal) {
    this.#clock = clock;
    this.#sources = caller === undefined ? [ended] : [caller, ended];
    this.#onAbort = () => this.#fail(caller?.aborted ? caller.reason : transportClosed());
    for (const source of this.#sources) source.addEventListener("abort", this.#onAbort, { once: true });
    this.#failed.promise.catch(() => {});
  }

  get signal(): AbortSignal {
    return this.#aborter.signal;
  }

  get failed(): Promise<never> {
    return this.#failed.promise;
  }

  failAfter(ms: number, error: ClientError): void {
    const timer = this.#clock.after(ms, () => this.#fail(error));
    this.#timer = { [Symbol.dispose]: () => timer.cancel() };
  }

  [Symbol.dispose](): void {
    this.#timer?.[Symbol.dispose]();
    for (const source of this.#sources) source.removeEventListener("abort", this.#onAbort);
  }

  #fail(reason: unknown): void {
    this.#failed.reject(reason);
    this.#aborter.abort(reason);
  }
}
