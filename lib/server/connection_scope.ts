import type { Connection } from "../rpc/connection.ts";

/** Makes what belongs to one connection and ends with it: its open files, its streams. */
export type ResourceMaker<T extends Disposable> = (scope: ConnectionScope) => T;

/** What one connection holds besides its session, each made when it is first asked for. Leaving the scope ends all. */
export class ConnectionScope implements Disposable {
  /** By what made it; as many as there are makers. */
  readonly #resources = new Map<ResourceMaker<Disposable>, Disposable>();

  /**
   * @param signal Aborted when the connection has ended, before its resources end.
   * @param isShared Whether others have asked the server for something lately.
   */
  constructor(
    readonly connection: Connection,
    readonly signal: AbortSignal,
    readonly isShared: () => boolean = () => false,
  ) {}

  /**
   * @param make Called at the first time; the same function gives the same resource.
   */
  resource<T extends Disposable>(make: ResourceMaker<T>): T {
    let resource = this.#resources.get(make);
    if (resource === undefined) {
      this.signal.throwIfAborted();
      this.#resources.set(make, resource = make(this));
    }
    return resource as T;
  }

  [Symbol.dispose](): void {
    for (const resource of this.#resources.values()) resource[Symbol.dispose]();
    this.#resources.clear();
  }
}
