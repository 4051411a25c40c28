import { abortable } from "../abortable.ts";
import type { Carrier, OpenedConnection, OpenOptions } from "./carrier.ts";
import { protocolError, unavailable } from "./client_error.ts";

/**
 * The making of an environment that is known before it can be reached. Whoever makes it says how that went; only the
 * first word counts. Leaving its scope without one tells those who wait that nothing comes any more.
 */
export class Provisioning implements Disposable {
  readonly #outcome = Promise.withResolvers<void>();

  constructor() {
    // Nobody may be waiting yet when it fails.
    this.#outcome.promise.catch(() => {});
  }

  /** The environment can be reached. */
  ready(): void {
    this.#outcome.resolve();
  }

  /** It never will be. @param reason For people. */
  failed(reason: string): void {
    this.#outcome.reject(unavailable(`environment unavailable: ${reason}`));
  }

  /** Resolves when the environment is ready. @throws {ClientError} `unavailable`; or the signal's reason. */
  wait(signal?: AbortSignal): Promise<void> {
    return abortable(this.#outcome.promise, signal);
  }

  [Symbol.dispose](): void {
    this.failed("environment provisioning ended before completion");
  }
}

/**
 * A carrier that does not connect before its environment is ready.
 *
 * @throws {ClientError} `protocol`, if the carrier is deferred already.
 */
export function deferredCarrier(carrier: Carrier, provisioning: Provisioning): Carrier {
  if (isDeferred(carrier)) throw protocolError("nested deferred exec-server transports are unsupported");
  return new DeferredCarrier(carrier, provisioning);
}

export function isDeferred(carrier: Carrier): boolean {
  return carrier instanceof DeferredCarrier;
}

class DeferredCarrier implements Carrier {
  readonly #carrier: Carrier;
  readonly #provisioning: Provisioning;
  readonly lookUp: Carrier["lookUp"];
  readonly use: Carrier["use"];

  constructor(carrier: Carrier, provisioning: Provisioning) {
    this.#carrier = carrier;
    this.#provisioning = provisioning;
    this.lookUp = carrier.lookUp?.bind(carrier);
    this.use = carrier.use?.bind(carrier);
  }

  get label(): string {
    return this.#carrier.label;
  }

  get resume(): Carrier["resume"] {
    return this.#carrier.resume;
  }

  get renewable(): boolean {
    return this.#carrier.renewable;
  }

  async open(options: OpenOptions): Promise<OpenedConnection> {
    await this.#provisioning.wait(options.signal);
    return await this.#carrier.open(options);
  }
}
