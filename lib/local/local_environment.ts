import type { CallOptions } from "../client/calls.ts";
import { transportClosed } from "../client/client_error.ts";
import type { Environment, EnvironmentStatus } from "../client/environment.ts";
import type { Fetch } from "../client/fetch.ts";
import type { Files } from "../client/files.ts";
import type { CollectedOutput, ExecProcess, RunOptions, StartOptions } from "../client/process.ts";
import { RemoteFiles } from "../client/remote_files.ts";
import { webFetch } from "../client/web_fetch.ts";
import { type Clock, systemClock } from "../clock.ts";
import { lazily } from "../lazily.ts";
import { type Log, silentLog } from "../log.ts";
import { OPERATING_SYSTEM } from "../operating_system.ts";
import { systemBackend } from "../process/backend.ts";
import type { ProcessBackend } from "../process/child.ts";
import { hostFacts } from "../process/host_facts.ts";
import type { EnvironmentInfo } from "../protocol/environment.ts";
import { EXTENSIONS_CAPABILITY } from "../protocol/extensions.ts";
import { DEFAULT_SANDBOX, LazySandbox } from "../sandbox/lazy_sandbox.ts";
import type { SandboxChoice } from "../sandbox/sandbox.ts";
import { WIRE_VERSION } from "../version.ts";
import { fileDeeds, type LocalFiles } from "./file_deeds.ts";
import { LocalCalls } from "./local_calls.ts";
import { LocalExchanges } from "./local_exchange.ts";
import { LocalProcesses } from "./local_processes.ts";

/** How this machine is used. */
export interface LocalOptions {
  /** The name of the environment. Default `local`. */
  readonly id?: string;
  /**
   * What programs may inherit, and where proxies and the values of headers are looked up. Default: the variables that
   * this process has now.
   */
  readonly variables?: Readonly<Record<string, string>>;
  readonly log?: Log;
  readonly clock?: Clock;
  /** How programs are launched; it stays the caller's. Default: as this system does it. */
  readonly backend?: ProcessBackend;
  /** What enforces sandboxes. Default: the first way that works here, and no secrets to be kept from programs. */
  readonly sandbox?: SandboxChoice;
}

/**
 * This machine as an environment, without any server: programs run as children of this process, under its user. What it
 * starts and opens ends with it.
 */
export async function localEnvironment(options: LocalOptions = {}): Promise<Environment> {
  const { id = "local", log = silentLog, clock = systemClock } = options;
  const variables = new Map(Object.entries(options.variables ?? Deno.env.toObject()));
  const facts = await hostFacts();
  const info: EnvironmentInfo = {
    ...facts,
    executorVersion: WIRE_VERSION,
    serverInfo: null,
    prependPathDirs: [],
    capabilities: {
      fileWriteStreaming: true,
      httpHeaderEnvVars: true,
      sandboxedFileStreaming: OPERATING_SYSTEM === "linux",
      [EXTENSIONS_CAPABILITY]: true,
    },
  };
  await using scope = new AsyncDisposableStack();
  const ended = new AbortController();
  // Before what launches programs, so that it ends after them.
  const sandbox = scope.use(new LazySandbox({ ...options.sandbox ?? DEFAULT_SANDBOX, log, clock }));
  const backend = options.backend ?? scope.use(await systemBackend(log));
  const files = scope.adopt(new LazyFiles({ sandbox, log, ended: ended.signal }), (files) => files.end());
  const processes = scope.use(
    new LocalProcesses({ backend, sandbox, info, variables, clock, log, ended: ended.signal }),
  );
  const exchanges = scope.use(new LocalExchanges({ clock, variables, ended: ended.signal }));
  scope.defer(() => ended.abort(transportClosed()));
  const calls = new LocalCalls(fileDeeds(files.get), { clock, log, ended: ended.signal });
  return new LocalEnvironment({ id, info, calls, processes, exchanges, scope: scope.move() });
}

interface Parts {
  readonly id: string;
  readonly info: EnvironmentInfo;
  readonly calls: LocalCalls;
  readonly processes: LocalProcesses;
  readonly exchanges: LocalExchanges;
  readonly scope: AsyncDisposableStack;
}

class LocalEnvironment implements Environment {
  readonly id: string;
  readonly files: Files;
  readonly fetch: Fetch;
  readonly #parts: Parts;

  constructor(parts: Parts) {
    const { id, calls, exchanges, info } = parts;
    this.#parts = parts;
    this.id = id;
    this.files = new RemoteFiles({
      call: (method, params, options) => calls.call(method, params, options),
      info: () => Promise.resolve(info),
      maxMessageDataBytes: LARGEST_TEXT_BYTES,
    });
    this.fetch = webFetch(exchanges.exchange, Number.MAX_SAFE_INTEGER, calls.signal);
  }

  info(options: CallOptions = {}): Promise<EnvironmentInfo> {
    options.signal?.throwIfAborted();
    return Promise.resolve(this.#parts.info);
  }

  status(): Promise<EnvironmentStatus> {
    const { failure } = this.#parts.calls;
    return Promise.resolve(
      failure === undefined ? { state: "ready" } : { state: "disconnected", error: failure.message },
    );
  }

  start(options: StartOptions): Promise<ExecProcess> {
    return this.#parts.processes.start(options);
  }

  run(options: RunOptions): Promise<CollectedOutput> {
    return this.#parts.processes.run(options);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#parts.scope.disposeAsync();
  }
}

/** What base64 makes of more is longer than the engine's longest string. */
const LARGEST_TEXT_BYTES = 383 * 1024 * 1024;

/** How long work on files may go on without a break, in milliseconds. */
const SLICE_MS = 5;

/** What works on files, loaded with the first request. */
class LazyFiles {
  readonly get: () => Promise<LocalFiles>;
  readonly #scope = new AsyncDisposableStack();

  constructor({ sandbox, log, ended }: { sandbox: LazySandbox; log: Log; ended: AbortSignal }) {
    this.get = lazily(async () => {
      const [{ ConnectionFiles }, { Turns }, { PolicyFiles }, { systemFiles }] = await Promise.all([
        import("../fs/connection_files.ts"),
        import("../fs/turns.ts"),
        import("../fs/policy_files.ts"),
        import("../fs/backend.ts"),
      ]);
      await using scope = new AsyncDisposableStack();
      const operations = scope.use(await systemFiles({ log }));
      const policyFiles = scope.use(new PolicyFiles({ sandbox, operations, log }));
      const files = scope.use(
        new ConnectionFiles({ operations, turns: new Turns(), signal: ended, budgetMs: () => SLICE_MS }),
      );
      if (!ended.aborted) this.#scope.use(scope.move());
      return { files, policyFiles, keepsSecrets: sandbox.keepsSecrets };
    });
  }

  async end(): Promise<void> {
    await this.#scope.disposeAsync();
  }
}
