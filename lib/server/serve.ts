import { type Clock, systemClock } from "../clock.ts";
import { type Log, silentLog } from "../log.ts";
import { harmless, noObserver, type Observer, type TransportName } from "../observer.ts";
import type { ProcessBackend } from "../process/child.ts";
import { systemBackend } from "../process/backend.ts";
import { environmentInfo as environmentInfoCodec } from "../protocol/environment.ts";
import type { Connection, ConnectionEnd } from "../rpc/connection.ts";
import { Peer } from "../rpc/peer.ts";
import { DEFAULT_SANDBOX, LazySandbox } from "../sandbox/lazy_sandbox.ts";
import type { SandboxChoice } from "../sandbox/sandbox.ts";
import { Conversation } from "./conversation.ts";
import { Crowd } from "./crowd.ts";
import { environmentInfo } from "./environment_info.ts";
import { type BuiltHandlers, handlers } from "./handlers.ts";
import { ServerFiles } from "./server_files.ts";
import { DEFAULT_MAX_DETACHED_MS, Sessions } from "./sessions.ts";

export interface ServerOptions {
  /** Requests that may run at once per connection and lane; 1 (the default) is strictly one after the other. */
  readonly concurrentRequests?: number;
  /**
   * The longest that a client may have its session live without a connection, in milliseconds; 0: no longer than the
   * usual 80 s. Default: a day.
   */
  readonly maxDetachedMs?: number;
  readonly log?: Log;
  readonly observer?: Observer;
  readonly clock?: Clock;
  /** How programs are launched; the default is the system's own way. Ended with the server. */
  readonly backend?: ProcessBackend & Disposable;
  /** What enforces sandboxes; the default is the first way that works here, and no secrets to be kept from programs. */
  readonly sandbox?: SandboxChoice;
}

/** Serves any number of connections with one set of sessions. Leaving its scope ends every process. */
export class ExecServer implements Disposable, AsyncDisposable {
  readonly #options: Required<ServerOptions>;
  readonly #crowd: Crowd;
  readonly #sessions: Sessions;
  readonly #handlers: BuiltHandlers;
  readonly #files: ServerFiles;
  readonly #sandbox: LazySandbox;
  readonly #connections = new Set<Connection>();

  private constructor(options: Required<ServerOptions>, info: Awaited<ReturnType<typeof environmentInfo>>) {
    this.#options = options;
    this.#crowd = new Crowd(options.clock);
    this.#sandbox = new LazySandbox({ ...options.sandbox, log: options.log, clock: options.clock });
    this.#sessions = new Sessions({ ...options, crowd: this.#crowd });
    let inherited: ReadonlyMap<string, string> | undefined;
    this.#files = new ServerFiles(options.log, this.#sandbox);
    this.#handlers = handlers({
      sessions: this.#sessions,
      files: this.#files,
      sandbox: this.#sandbox,
      log: options.log,
      clock: options.clock,
      observer: options.observer,
      environmentInfo: info,
      inherited: () => inherited ??= new Map(Object.entries(Deno.env.toObject())),
    });
  }

  /**
   * Loads what this system needs to run programs.
   *
   * @throws {RangeError} If `maxDetachedMs` is no duration.
   */
  static async create(options: ServerOptions = {}): Promise<ExecServer> {
    const { maxDetachedMs = DEFAULT_MAX_DETACHED_MS } = options;
    if (!(maxDetachedMs >= 0)) throw new RangeError(`maxDetachedMs must be at least 0, got ${maxDetachedMs}`);
    const log = options.log ?? silentLog;
    const info = await environmentInfo();
    // Its text is made now, so that the first client does not wait for it.
    environmentInfoCodec.toJson(info);
    return new ExecServer({
      concurrentRequests: options.concurrentRequests ?? 1,
      maxDetachedMs,
      log,
      observer: harmless(options.observer ?? noObserver, log),
      clock: options.clock ?? systemClock,
      backend: options.backend ?? await systemBackend(log),
      sandbox: options.sandbox ?? DEFAULT_SANDBOX,
    }, info);
  }

  /** Holds one conversation; resolves when the connection has ended. Its session then waits to be resumed. */
  serve(connection: Connection, transport: TransportName): Promise<ConnectionEnd> {
    const { promise, resolve } = Promise.withResolvers<ConnectionEnd>();
    const conversation = new Conversation(this.#handlers, connection, this.#crowd);
    this.#connections.add(connection);
    new Peer({
      connection,
      transport,
      handler: conversation,
      log: this.#options.log,
      observer: this.#options.observer,
      concurrency: this.#options.concurrentRequests,
      strictResponses: true,
      ended: (end) => {
        this.#connections.delete(connection);
        conversation[Symbol.dispose]();
        if (conversation.session !== undefined) this.#sessions.detach(conversation.session);
        resolve(end);
      },
    });
    return promise;
  }

  /** Kills every process group at once, then lets the connections go. */
  [Symbol.dispose](): void {
    this.#sessions[Symbol.dispose]();
    this.#options.backend[Symbol.dispose]();
    for (const connection of this.#connections) connection.close(undefined, "server ends");
    this.#files[Symbol.dispose]();
    this.#sandbox[Symbol.dispose]();
  }

  /** The same, and waits until no helper of ours is left that works on files. */
  async [Symbol.asyncDispose](): Promise<void> {
    this[Symbol.dispose]();
    await this.#files[Symbol.asyncDispose]();
  }
}
