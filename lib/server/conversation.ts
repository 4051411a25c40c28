import type { Codec } from "../codec.ts";
import { ExecError } from "../errors.ts";
import { type Json, toWellFormedJson } from "../json.ts";
import { type RequestName, REQUESTS } from "../protocol/methods.ts";
import type { Connection } from "../rpc/connection.ts";
import {
  type Lane,
  type PeerHandler,
  ProtocolViolation,
  type RequestScope,
  type ResultJson,
} from "../rpc/peer_handler.ts";
import { ConnectionScope } from "./connection_scope.ts";
import type { Crowd } from "./crowd.ts";
import { type CallContext, EncodedResult } from "./handler.ts";
import type { BuiltHandlers } from "./handlers.ts";
import { LargeResult } from "./large_result.ts";
import type { Session } from "./session.ts";

/** A client that does not wait for the acknowledgement of its `initialized` has sent its first request by then. */
const ACKNOWLEDGE_AFTER_MS = 1;

/** Where the handshake of one connection stands. */
type Stage = "fresh" | "initialized-awaited" | "ready";

/** What one connection may do: the handshake, then the methods, in the words that the wire has for each refusal. */
export class Conversation implements PeerHandler, Disposable {
  #stage: Stage = "fresh";
  #session: Session | undefined;
  #scope: ConnectionScope | undefined;
  #acknowledgement: ReturnType<typeof setTimeout> | undefined;
  readonly #handlers: BuiltHandlers;
  readonly #connection: Connection;
  readonly #crowd: Crowd;

  constructor(handlers: BuiltHandlers, connection: Connection, crowd: Crowd) {
    this.#handlers = handlers;
    this.#connection = connection;
    this.#crowd = crowd;
  }

  /** The session of this connection, once `initialize` has succeeded. */
  get session(): Session | undefined {
    return this.#session;
  }

  get concurrent(): boolean {
    return this.#stage === "ready";
  }

  lane(method: string, waiting: (isMeant: (method: string) => boolean) => boolean): Lane {
    if (!isRequestName(method)) return "immediate";
    // A handle is not closed under the requests for it that wait; otherwise a close need not wait for long polls.
    if (method === "fs/close" && waiting(usesHandle)) return "ordinary";
    return REQUESTS[method].control ? "control" : "ordinary";
  }

  notification(method: string): void {
    if (method !== "initialized") throw new ProtocolViolation("unexpected notification");
    if (this.#stage === "fresh") throw new ProtocolViolation("initialized before initialize");
    this.#stage = "ready";
    const { acknowledge } = this.#connection;
    if (acknowledge !== undefined) this.#acknowledgement = setTimeout(acknowledge, ACKNOWLEDGE_AFTER_MS);
  }

  /** Decoding comes before the handshake check, and the handshake check before every check of values. */
  request(method: string, params: Json, scope: RequestScope): ResultJson | Promise<ResultJson> {
    // Its answer tells that everything before it has arrived.
    clearTimeout(this.#acknowledgement);
    this.#crowd.asked(this.#connection);
    if (!isRequestName(method)) throw notBuilt(method);
    const decoded = REQUESTS[method].params.decode(params);
    if (method === "initialize") return this.#initialize(decoded as Parameters<BuiltHandlers["initialize"]>[0]);
    const session = this.#requireHandshake(REQUESTS[method].family);
    const handler = this.#handlers[method] as
      | ((params: unknown, context: CallContext) => unknown)
      | undefined;
    if (handler === undefined) throw notBuilt(method);
    const { signal, afterAnswer } = scope;
    this.#scope ??= new ConnectionScope(
      this.#connection,
      signal,
      () => this.#crowd.isShared(this.#connection),
    );
    return encoded(method, handler(decoded, { session, signal, afterAnswer, connection: this.#scope }));
  }

  #initialize(params: Parameters<BuiltHandlers["initialize"]>[0]): ResultJson | Promise<ResultJson> {
    if (this.#stage !== "fresh") {
      throw new ExecError("invalidRequest", "initialize may only be sent once per connection");
    }
    const context = {
      connection: this.#connection,
      attached: (session: Session) => {
        this.#session = session;
        this.#stage = "initialized-awaited";
      },
    };
    return encoded("initialize", this.#handlers.initialize(params, context));
  }

  /** The connection has ended, and with it what it held. */
  [Symbol.dispose](): void {
    clearTimeout(this.#acknowledgement);
    this.#scope?.[Symbol.dispose]();
  }

  #requireHandshake(family: string): Session {
    if (this.#stage === "fresh" || this.#session === undefined) {
      throw new ExecError("invalidRequest", `client must call initialize before using ${family} methods`);
    }
    if (this.#stage !== "ready") {
      throw new ExecError("invalidRequest", `client must send initialized before using ${family} methods`);
    }
    return this.#session;
  }
}

function usesHandle(method: string): boolean {
  return method === "fs/open" || method === "fs/readBlock" || method === "fs/writeBlock";
}

function isRequestName(method: string): method is RequestName {
  return Object.hasOwn(REQUESTS, method);
}

function notBuilt(method: string): ExecError {
  return new ExecError("methodNotFound", `exec-server stub does not implement \`${method}\` yet`);
}

/** The result as JSON text; a promise only if the handler needed one. */
function encoded(method: RequestName, result: unknown): ResultJson | Promise<ResultJson> {
  if (result instanceof Promise) return result.then((value) => toJson(method, value));
  return toJson(method, result);
}

function toJson(method: RequestName, value: unknown): ResultJson {
  if (value instanceof LargeResult) return value;
  if (value instanceof EncodedResult) return value.json;
  const codec = REQUESTS[method].result as Codec<unknown>;
  return codec.toJson?.(value) ?? toWellFormedJson(codec.encode(value));
}
