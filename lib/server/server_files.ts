import type { DiscoveryFiles } from "../discovery/files.ts";
import type { ConnectionFiles } from "../fs/connection_files.ts";
import type { Caller, FileOperations, MaybePromise } from "../fs/operations.ts";
import type { PolicyFiles } from "../fs/policy_files.ts";
import type { Log } from "../log.ts";
import { lazily } from "../lazily.ts";
import type { ProgramConfinement } from "../sandbox/confine_program.ts";
import type { ConnectionScope } from "./connection_scope.ts";
import type { CallContext } from "./handler.ts";
import type { LazySandbox } from "../sandbox/lazy_sandbox.ts";

/** How long work on files may go on without a break, in milliseconds, … */
const SLICE_MS = 5;
/**
 * … and when others have asked lately: their requests wait for the rest of a slice. A break takes about 25 µs when there
 * is nothing to do in it.
 */
const SHARED_SLICE_MS = 0.1;

const discoveryFiles = lazily(() => import("../discovery/files.ts"));

/** What has been loaded. */
interface Loaded {
  readonly operations: FileOperations & Disposable;
  readonly policyFiles: PolicyFiles;
  readonly filesOf: (scope: ConnectionScope) => ConnectionFiles;
}

/** What the connections of a server need to work on files. It is loaded with the first request: that takes about 20 ms. */
export class ServerFiles implements Disposable, AsyncDisposable {
  readonly #log: Log;
  readonly #sandbox: LazySandbox;
  #loaded: Loaded | undefined;
  readonly #begin = lazily(async () => this.#loaded = await this.#load());
  #disposed = false;

  /** @param sandbox Stays the caller's. */
  constructor(log: Log, sandbox: LazySandbox) {
    this.#log = log;
    this.#sandbox = sandbox;
  }

  /** The files of one connection. */
  of({ connection }: CallContext): MaybePromise<ConnectionFiles> {
    const loaded = this.#loaded;
    return loaded === undefined
      ? this.#begin().then(({ filesOf }) => connection.resource(filesOf))
      : connection.resource(loaded.filesOf);
  }

  /** Operations that are confined; see {@linkcode PolicyFiles.under}. */
  confine(demand: () => ProgramConfinement, check?: () => void): MaybePromise<FileOperations> {
    const loaded = this.#loaded;
    return loaded === undefined
      ? this.#begin().then(({ policyFiles }) => policyFiles.under(demand, check))
      : loaded.policyFiles.under(demand, check);
  }

  /** The same files, to discover something in: without turns, since nothing is changed. */
  async discovery(context: CallContext): Promise<DiscoveryFiles> {
    const [{ operations }, { DiscoveryFiles }] = await Promise.all([this.#begin(), discoveryFiles()]);
    return new DiscoveryFiles(operations, callerOf(context));
  }

  /** To discover something as a sandbox shows it. */
  async discoveryWithin<T>(
    context: CallContext,
    demand: () => ProgramConfinement,
    act: (files: DiscoveryFiles) => Promise<T>,
  ): Promise<T> {
    const [{ policyFiles }, { DiscoveryFiles }] = await Promise.all([this.#begin(), discoveryFiles()]);
    const caller = callerOf(context);
    return await policyFiles.during(demand, caller, (operations) => act(new DiscoveryFiles(operations, caller)));
  }

  [Symbol.dispose](): void {
    this.#disposed = true;
    this.#loaded?.policyFiles[Symbol.dispose]();
    this.#loaded?.operations[Symbol.dispose]();
  }

  /** Waits for what has been ended. */
  async [Symbol.asyncDispose](): Promise<void> {
    this[Symbol.dispose]();
    await this.#loaded?.policyFiles[Symbol.asyncDispose]();
  }

  async #load(): Promise<Loaded> {
    const [{ ConnectionFiles }, { Turns }, { PolicyFiles }, { systemFiles }] = await Promise.all([
      import("../fs/connection_files.ts"),
      import("../fs/turns.ts"),
      import("../fs/policy_files.ts"),
      import("../fs/backend.ts"),
    ]);
    const operations = await systemFiles({ log: this.#log });
    const policyFiles = new PolicyFiles({ sandbox: this.#sandbox, operations, log: this.#log });
    if (this.#disposed) {
      policyFiles[Symbol.dispose]();
      operations[Symbol.dispose]();
    }
    const turns = new Turns();
    const filesOf = (scope: ConnectionScope) =>
      new ConnectionFiles({ operations, turns, signal: scope.signal, budgetMs: () => sliceMs(scope) });
    return { operations, policyFiles, filesOf };
  }
}

function callerOf({ connection, signal }: CallContext): Caller {
  return { signal, budgetMs: () => sliceMs(connection) };
}

function sliceMs(scope: ConnectionScope): number {
  return scope.isShared() ? SHARED_SLICE_MS : SLICE_MS;
}
