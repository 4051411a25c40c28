import { ExecError } from "../errors.ts";
import type { Json } from "../json.ts";
import { type Log, silentLog } from "../log.ts";
import { noObserver } from "../observer.ts";
import {
  type NotificationName,
  type NotificationParams,
  NOTIFICATIONS,
  type Params,
  type RequestName,
  REQUESTS,
  type Result,
} from "../protocol/methods.ts";
import type { Connection, ConnectionEnd } from "../rpc/connection.ts";
import { Peer } from "../rpc/peer.ts";
import type { Lane, PeerHandler } from "../rpc/peer_handler.ts";

/** One event that the server told without being asked. */
export type ServerEvent = {
  readonly [N in NotificationName]: { readonly method: N; readonly params: NotificationParams<N> };
}[NotificationName];

export interface ClientOptions {
  /** Told to the server, for its diagnostics only. */
  readonly clientName?: string;
  /** Takes over the processes of a session whose connection has ended. */
  readonly resumeSessionId?: string;
  /** Hears the server's notifications in the order in which they came. It must not throw. */
  readonly onEvent?: (event: ServerEvent) => void;
  readonly log?: Log;
  readonly signal?: AbortSignal;
}

/**
 * Typed calls over one connection. Nothing is repeated and nothing recovered: when the connection ends, pending calls
 * fail with `disconnected`.
 */
export class Client implements Disposable {
  readonly #peer: Peer;
  readonly #ended = Promise.withResolvers<ConnectionEnd>();
  #sessionId = "";

  private constructor(connection: Connection, options: ClientOptions) {
    this.#peer = new Peer({
      connection,
      transport: "websocket",
      handler: new EventHandler(options.onEvent),
      log: options.log ?? silentLog,
      observer: noObserver,
      concurrency: 1,
      strictResponses: false,
      ended: (end) => this.#ended.resolve(end),
    });
  }

  /**
   * Shakes hands over a connection that the client owns from here on.
   *
   * @throws {ExecError} What the server answered to `initialize`, or `disconnected`. The connection is closed then.
   */
  static async connect(connection: Connection, options: ClientOptions = {}): Promise<Client> {
    const client = new Client(connection, options);
    try {
      const { clientName = "exec-server client", resumeSessionId = null } = options;
      const { sessionId } = await client.request("initialize", { clientName, resumeSessionId }, options.signal);
      client.#sessionId = sessionId;
      client.#peer.notify("initialized", {});
      return client;
    } catch (error) {
      client[Symbol.dispose]();
      throw error;
    }
  }

  /** Names the session; give it as `resumeSessionId` to a later connection. */
  get sessionId(): string {
    return this.#sessionId;
  }

  /** Resolves when the connection has ended. */
  get ended(): Promise<ConnectionEnd> {
    return this.#ended.promise;
  }

  /**
   * One call. There is no time limit; pass a signal to give up waiting (the server still does what it was asked).
   *
   * @throws {ExecError} What the server answered, or `disconnected`.
   */
  async request<M extends RequestName>(method: M, params: Params<M>, signal?: AbortSignal): Promise<Result<M>> {
    const { params: codec, result } = REQUESTS[method];
    const answer = await this.#peer.request(
      method,
      (codec.encode as (params: unknown) => unknown)(params),
      signal === undefined ? {} : { signal },
    );
    return result.decode(answer) as Result<M>;
  }

  /** Ends the connection. The session lives on for 80 s and can be resumed. */
  [Symbol.dispose](): void {
    this.#peer.close("client ends");
  }
}

class EventHandler implements PeerHandler {
  readonly concurrent = false;
  readonly #onEvent: ((event: ServerEvent) => void) | undefined;

  constructor(onEvent: ((event: ServerEvent) => void) | undefined) {
    this.#onEvent = onEvent;
  }

  request(method: string): never {
    throw new ExecError("methodNotFound", `exec-server client does not implement \`${method}\` yet`);
  }

  /** Unknown notifications are ignored: a newer server may say more than we know. */
  notification(method: string, params: Json): void {
    if (!Object.hasOwn(NOTIFICATIONS, method)) return;
    const name = method as NotificationName;
    this.#onEvent?.({ method: name, params: NOTIFICATIONS[name].decode(params) } as ServerEvent);
  }

  lane(): Lane {
    return "ordinary";
  }
}
