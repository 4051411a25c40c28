import type { Carrier, ExecutorLookup, OpenedConnection, OpenOptions } from "./carrier.ts";
import { checkDuration } from "./check_duration.ts";
import { ClientError } from "./client_error.ts";
import { CONNECT_TIMEOUT_MS } from "./limits.ts";
import { registryPauseMs } from "./registry_pause.ts";
import type { FoundExecutor, RelayOpener } from "./relay_opener.ts";
import type { RelayCarrierOptions } from "./relay_options.ts";

/**
 * Connections to an environment that is known to a registry, through a rendezvous that sees only who talks to whom. Each
 * one asks the registry anew; a lost one can be followed by another. Nothing is checked before the first attempt.
 */
export function relayCarrier(options: RelayCarrierOptions): Carrier {
  return new RelayCarrier(options);
}

class RelayCarrier implements Carrier {
  readonly label: string;
  readonly resume = { pauseMs: registryPauseMs };
  readonly renewable = true;
  readonly #options: RelayCarrierOptions;
  #opener: Promise<RelayOpener> | undefined;
  #users = 0;

  constructor(options: RelayCarrierOptions) {
    this.label = `exec-server environment ${options.environmentId.trim()}`;
    this.#options = options;
  }

  async open(options: OpenOptions): Promise<OpenedConnection> {
    return await (await this.#loaded()).open(options);
  }

  async lookUp(signal: AbortSignal): Promise<ExecutorLookup> {
    const opener = await this.#loaded();
    const found = await opener.lookUp(signal);
    return { executor: found.executor, carrier: new FoundCarrier(this, opener, found) };
  }

  use(): Disposable {
    this.#users++;
    let isUsed = true;
    return {
      [Symbol.dispose]: () => {
        if (!isUsed) return;
        isUsed = false;
        this.#users--;
        void this.#opener?.then((opener) => {
          if (this.#users === 0) opener.forgetKeys();
        }, () => {});
      },
    };
  }

  /** What the relay is made of is loaded by who needs it. */
  #loaded(): Promise<RelayOpener> {
    this.#opener ??= this.#load().catch((error) => {
      this.#opener = undefined;
      throw error;
    });
    return this.#opener;
  }

  async #load(): Promise<RelayOpener> {
    checkDuration("connectTimeoutMs", this.#options.connectTimeoutMs ?? CONNECT_TIMEOUT_MS);
    if (!canRelay()) {
      throw new ClientError(
        "configuration",
        "environments behind a registry cannot be reached from here: that takes WebSockets that can ping, and those of " +
          "browsers cannot",
      );
    }
    const { RelayOpener } = await import("./relay_opener.ts");
    return await RelayOpener.load(this.#options);
  }
}

/** As the carrier that found it, but the first connection goes to just that executor. */
class FoundCarrier implements Carrier {
  readonly label: string;
  readonly resume: Carrier["resume"];
  readonly renewable = true;
  readonly use: Carrier["use"];
  readonly #opener: RelayOpener;
  #found: FoundExecutor | undefined;

  constructor(carrier: RelayCarrier, opener: RelayOpener, found: FoundExecutor) {
    this.label = carrier.label;
    this.resume = carrier.resume;
    this.use = carrier.use.bind(carrier);
    this.#opener = opener;
    this.#found = found;
  }

  async open(options: OpenOptions): Promise<OpenedConnection> {
    const found = this.#found;
    this.#found = undefined;
    return await this.#opener.open(options, found);
  }
}

/** Deno, Node.js and Bun; all of them have what npm `ws` is made for. */
function canRelay(): boolean {
  const { process } = globalThis as { process?: { versions?: { node?: string } } };
  return process?.versions?.node !== undefined;
}
