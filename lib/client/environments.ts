import type { Carrier } from "./carrier.ts";
import { ClientError, protocolError, transportClosed, unavailable, unsupported } from "./client_error.ts";
import { deferredCarrier, Provisioning } from "./deferred.ts";
import type { Environment } from "./environment.ts";
import { type EnvironmentSet, environmentSources, type SourceOptions } from "./environment_sources.ts";
import { LazyEnvironment, type LazyEnvironmentOptions } from "./lazy_environment.ts";

export interface EnvironmentsOptions extends SourceOptions, Omit<LazyEnvironmentOptions, "id" | "log"> {
  /** Makes the environment of this machine when it is asked for; `localEnvironment` of the export `./local` does. */
  readonly local?: () => Promise<Environment>;
  /**
   * Whether environments behind a URL begin to connect at once (default); others wait until they are used. Commands are
   * not started before in any case.
   */
  readonly background?: boolean;
}

const LOCAL_ENVIRONMENT_ID = "local";

/** The environments that the user has configured, and those that a program adds. Leaving the scope ends them all. */
export class Environments implements AsyncDisposable {
  /** The id of the one to use where none is asked for; null: none. */
  readonly default: string | null;
  readonly #options: EnvironmentsOptions;
  readonly #remote = new Map<string, LazyEnvironment>();
  /** Those that were added before they could be reached. */
  readonly #provisionings = new Map<string, Provisioning>();
  readonly #includeLocal: boolean;
  #local: Promise<Environment> | undefined;
  #isEnded = false;

  /** @param set As configured; {@linkcode Environments.open} reads it. */
  constructor(set: EnvironmentSet, options: EnvironmentsOptions = {}) {
    this.default = set.default;
    this.#options = options;
    this.#includeLocal = set.includeLocal;
    for (const { id, carrier, initializeTimeoutMs } of set.environments) {
      const environment = this.#add(id, carrier, initializeTimeoutMs);
      if (carrier.renewable && options.background !== false) environment.connectInBackground();
    }
  }

  /**
   * Reads the configuration.
   *
   * @throws {ClientError} The first thing that is wrong with it.
   */
  static async open(options: EnvironmentsOptions = {}): Promise<Environments> {
    return new Environments(await environmentSources(options), options);
  }

  /** All ids, the default first. */
  get ids(): readonly string[] {
    const ids = [...this.#includeLocal ? [LOCAL_ENVIRONMENT_ID] : [], ...this.#remote.keys()];
    return [...ids.filter((id) => id === this.default), ...ids.filter((id) => id !== this.default)];
  }

  /**
   * One environment, or the default. It need not be reachable.
   *
   * @throws {ClientError} `unavailable`: there is none of that id, or no default. `unsupported`: it is this machine, and
   * nobody said how to use that.
   */
  async get(id: string | null = this.default): Promise<Environment> {
    if (this.#isEnded) throw transportClosed();
    if (id === null) throw unavailable("no environment is configured");
    if (id === LOCAL_ENVIRONMENT_ID && this.#includeLocal) return await this.#getLocal();
    const environment = this.#remote.get(id);
    if (environment === undefined) throw unavailable(`environment \`${id}\` is not configured`);
    if (environment.isDeferred) environment.connectInBackground();
    return environment;
  }

  /**
   * Adds an environment that can be reached now.
   *
   * @throws {ClientError} `protocol`, if there is one of that id; `closed`, once all have ended.
   */
  add(id: string, carrier: Carrier): LazyEnvironment {
    this.#refuseTaken(id, this.#provisionings.has(id));
    return this.#add(id, carrier);
  }

  /**
   * Adds an environment that can be reached when the provisioning says so. Asked again for the same one, the provisioning
   * is the same.
   *
   * @throws {ClientError} `configuration`, if there is one of that id that is not provisioned; `protocol`, if the carrier
   * is deferred already; `closed`, once all have ended.
   */
  provision(id: string, carrier: Carrier): Provisioning {
    const known = this.#provisionings.get(id);
    if (known !== undefined && !this.#isEnded) return known;
    this.#refuseTaken(id, this.#remote.has(id));
    const provisioning = new Provisioning();
    this.#add(id, deferredCarrier(carrier, provisioning));
    this.#provisionings.set(id, provisioning);
    return provisioning;
  }

  #refuseTaken(id: string, otherMode: boolean): void {
    if (this.#isEnded) throw transportClosed();
    if (otherMode) {
      throw new ClientError(
        "configuration",
        `environment \`${id}\` is already registered with a different provisioning mode`,
      );
    }
    if (this.#remote.has(id) || id === LOCAL_ENVIRONMENT_ID) {
      throw protocolError(`environment id \`${id}\` is duplicated`);
    }
  }

  #add(id: string, carrier: Carrier, initializeTimeoutMs?: number): LazyEnvironment {
    const timeout = initializeTimeoutMs === undefined ? {} : { initializeTimeoutMs };
    const environment = new LazyEnvironment(carrier, { ...this.#options, ...timeout, id });
    this.#remote.set(id, environment);
    return environment;
  }

  #getLocal(): Promise<Environment> {
    const { local } = this.#options;
    if (local === undefined) throw unsupported("this program cannot use its own machine as an environment");
    // One that could not be made may be made by the next who asks.
    this.#local ??= local().catch((error) => {
      this.#local = undefined;
      throw error;
    });
    return this.#local;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#isEnded = true;
    for (const provisioning of this.#provisionings.values()) provisioning[Symbol.dispose]();
    const ends = [...this.#remote.values()].map((environment) => environment[Symbol.asyncDispose]());
    await Promise.all([...ends, this.#endLocal()]);
  }

  async #endLocal(): Promise<void> {
    const local = await this.#local?.catch(() => undefined);
    await local?.[Symbol.asyncDispose]();
  }
}
