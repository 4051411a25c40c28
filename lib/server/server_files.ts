import type { DiscoveryFiles } from "../discovery/files.ts";
import type { ConnectionFiles } from "../fs/connection_files.ts";
import type { FileOperations, MaybePromise } from "../fs/operations.ts";
import type { Log } from "../log.ts";
import { lazily } from "../lazily.ts";
import type { ConnectionScope } from "./connection_scope.ts";
import type { CallContext } from "./handler.ts";

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
  readonly filesOf: (scope: ConnectionScope) => ConnectionFiles;
}

/** What the connections of a server need to work on files. It is loaded with the first request: that takes about 20 ms. */
export class ServerFiles implements Disposable {
  readonly #log: Log;
  #loaded: Loaded | undefined;
  readonly #begin = lazily(async () => this.#loaded = await this.#load());
  #disposed = false;

  constructor(log: Log) {
    this.#log = log;
  }

  /** The files of one connection. */
  of({ connection }: CallContext): MaybePromise<ConnectionFiles> {
    const loaded = this.#loaded;
    return loaded === undefined
      ? this.#begin().then(({ filesOf }) => connection.resource(filesOf))
      : connection.resource(loaded.filesOf);
  }

  /** The same files, to discover something in: without turns, since nothing is changed. */
  async discovery({ connection, signal }: CallContext): Promise<DiscoveryFiles> {
    const [{ operations }, { DiscoveryFiles }] = await Promise.all([
      this.#begin(),
      discoveryFiles(),
    ]);
    return new DiscoveryFiles(operations, { signal, budgetMs: () => sliceMs(connection) });
  }

  [Symbol.dispose](): void {
    this.#disposed = true;
    this.#loaded?.operations[Symbol.dispose]();
  }

  async #load(): Promise<Loaded> {
    const [{ ConnectionFiles }, { Turns }, { systemFiles }] = await Promise.all([
      import("../fs/connection_files.ts"),
      import("../fs/turns.ts"),
      import("../fs/backend.ts"),
    ]);
    const operations = await systemFiles({ log: this.#log });
    if (this.#disposed) operations[Symbol.dispose]();
    const turns = new Turns();
    const filesOf = (scope: ConnectionScope) =>
      new ConnectionFiles({ operations, turns, signal: scope.signal, budgetMs: () => sliceMs(scope) });
    return { operations, filesOf };
  }
}

function sliceMs(scope: ConnectionScope): number {
  return scope.isShared() ? SHARED_SLICE_MS : SLICE_MS;
}
