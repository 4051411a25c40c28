import type { Clock } from "../clock.ts";
import { ExecError } from "../errors.ts";
import { type Json, toWellFormedJson } from "../json.ts";
import type { Log } from "../log.ts";
import type { TraceContext } from "../observer.ts";
import {
  type NotificationName,
  NOTIFICATIONS,
  type Params,
  type RequestName,
  REQUESTS,
  type Result,
  SERVER_REQUESTS,
} from "../protocol/methods.ts";
import type { Connection, Message } from "../rpc/connection.ts";
import {
  decodeMessage,
  encodeError,
  encodeNotification,
  encodeRequest,
  encodeResult,
  MalformedMessage,
  type NotificationMessage,
  type RequestMessage,
} from "../rpc/message.ts";
import type { CallOptions } from "./calls.ts";
import { ClientError, disconnected, jsonError, protocolError, serverError } from "./client_error.ts";
import { MAX_PENDING_CALLS } from "./limits.ts";
import { Outbox } from "./outbox.ts";
import { type Answer, PendingCalls } from "./pending_calls.ts";
import type { ServerEvent } from "./server_event.ts";
import type { Span, Telemetry } from "./telemetry.ts";

/** Who a connection tells what it hears. */
export interface ConnectionOwner {
  /** @throws {ClientError} The connection ends. */
  notification(event: ServerEvent, connection: ServerConnection): void;
  /**
   * A `network/policyRequest`; it counts as in work until the promise resolves. It must not reject. Without it the server
   * hears that the method is not implemented.
   *
   * @param id As JSON text; for {@linkcode ServerConnection.reply}.
   */
  readonly request: ((id: string, params: Json, connection: ServerConnection) => Promise<void>) | undefined;
  /** Once; every pending call has been failed by then. @param error The disconnect text. */
  ended(error: ClientError, connection: ServerConnection): void;
}

export interface ServerConnectionOptions {
  readonly connection: Connection;
  readonly generation: number;
  readonly owner: ConnectionOwner;
  readonly clock: Clock;
  readonly log: Log;
  readonly telemetry: Telemetry;
}

export interface ConnectionCallOptions extends CallOptions {
  /** The call may take the place that is kept for those that clean up (`process/terminate`, `fs/close`). */
  readonly cleanup?: boolean;
}

const LIMIT_REACHED = `exec-server has reached its limit of ${MAX_PENDING_CALLS} pending requests`;
const METHOD_NOT_FOUND = -32601;

/**
 * One physical connection to a server, from its first message to its end. It does not outlive a defect: whatever the
 * server says against the rules ends it, and every pending call fails in the same step.
 */
export class ServerConnection {
  readonly generation: number;
  readonly #options: ServerConnectionOptions;
  readonly #connection: Connection;
  readonly #calls: PendingCalls;
  readonly #outbox: Outbox;
  /** The server's requests that are in work, and what became of them so far. */
  readonly #serverRequests = new Map<string, { result: "success" | "error" | "disconnected" }>();
  #end: ClientError | undefined;

  constructor(options: ServerConnectionOptions) {
    this.#options = options;
    this.generation = options.generation;
    this.#connection = options.connection;
    this.#calls = new PendingCalls(options.clock);
    this.#outbox = new Outbox(options.connection, options.clock);
  }

  /** Begins to listen; call it once. What the server said before comes first. */
  start(): void {
    this.#connection.start({
      message: (message) => this.#receive(message),
      ended: ({ reason, failure }) => {
        this.#options.log.info("connection to server ended", { generation: this.generation, reason });
        this.#finish(disconnected(failure, reason));
      },
    });
  }

  /** False from the moment in which its end, or a violation, was seen. */
  get alive(): boolean {
    return this.#end === undefined;
  }

  /** How error texts call the other end. */
  get label(): string {
    return this.#connection.label;
  }

  /**
   * One call.
   *
   * @throws {ClientError} `server`: it said no. `disconnected`: the connection ended before the answer. `json`: the
   * answer is not one of this method. `callTimeout`; `protocol`: too many calls in flight. Or the signal's reason.
   */
  async call<M extends RequestName>(
    method: M,
    params: Params<M>,
    options: ConnectionCallOptions = {},
  ): Promise<Result<M>> {
    const { telemetry, clock } = this.#options;
    telemetry.count?.("exec_server_client_requests_total", { method });
    const parent = options.trace === null ? undefined : options.trace ?? telemetry.currentTrace?.();
    const attributes = { "rpc.system": "jsonrpc", "rpc.method": method };
    const span = telemetry.startSpan?.({ name: method, kind: "client", attributes, parent });
    try {
      const { outcome, readAt } = await this.#exchange(method, params, options, span, span?.context ?? parent);
      span?.event("codex.exec_server.response_received", {
        "rpc.method": method,
        outcome: "result" in outcome ? "success" : "error",
        reader_to_caller_ns: Math.round((clock.now() - readAt) * 1e6),
      });
      if ("error" in outcome) throw serverError(outcome.error.code, outcome.error.message, outcome.error.data);
      return decodeResult(method, outcome.result);
    } finally {
      span?.end();
    }
  }

  #exchange<M extends RequestName>(
    method: M,
    params: Params<M>,
    options: ConnectionCallOptions,
    span: Span | undefined,
    trace: TraceContext | undefined,
  ): Promise<Answer> {
    if (this.#end !== undefined) throw disconnected(undefined, this.#end);
    options.signal?.throwIfAborted();
    const encoded = (REQUESTS[method].params.encode as (params: unknown) => unknown)(params);
    const place = this.#calls.place(options.cleanup ?? false);
    if (place === undefined) {
      if (!options.cleanup) throw protocolError(LIMIT_REACHED);
      this.close(LIMIT_REACHED);
      throw disconnected(undefined, this.#end);
    }
    return this.#calls.open(method, place, options, (id) => {
      const text = encodeRequest(id, method, encoded, sendable(trace));
      return this.#outbox.send({ id: String(id), method, cleanup: options.cleanup ?? false, text, span });
    });
  }

  /** The server takes any number of requests before it has answered one: {@linkcode MAX_PENDING_CALLS} are the bound. */
  liftRequestLimit(): void {
    this.#outbox.lift();
  }

  /** Sends a notification. */
  notify(method: string, params: unknown): void {
    this.#connection.send(encodeNotification(method, params));
  }

  /** Answers a request of the server, unless the connection has ended. @param id As it was handed over. */
  reply(id: string, result: unknown): void {
    this.#answer(id, "success", encodeResult(id, toWellFormedJson(result)));
  }

  /** The same with an error. */
  replyError(id: string, code: number, message: string): void {
    this.#answer(id, "error", encodeError(id, { code, message }));
  }

  #answer(id: string, result: "success" | "error", text: string): void {
    if (!this.alive) return;
    if (!this.#outbox.answer(text)) return this.close("exec-server does not read the answers to its requests");
    const request = this.#serverRequests.get(id);
    if (request !== undefined) request.result = result;
  }

  /** Ends the connection; recovery begins, for this reason. */
  close(reason: string): void {
    this.#finish(disconnected(reason));
  }

  /** Ends the connection for good: this error, instead of a disconnect, is what its pending calls fail with. */
  end(error: ClientError): void {
    this.#finish(error, error);
  }

  /** @param callError What the pending calls fail with; without it the bare disconnect. */
  #finish(end: ClientError, callError: ClientError = disconnected(undefined, end)): void {
    if (this.#end !== undefined) return;
    this.#end = end;
    this.#outbox.drop();
    this.#connection.close();
    this.#calls.fail(callError);
    this.#options.owner.ended(end, this);
  }

  #receive(message: Message): void {
    if (this.#end !== undefined) return;
    let incoming;
    try {
      incoming = decodeMessage(message, Infinity);
    } catch (error) {
      if (!(error instanceof MalformedMessage)) throw error;
      return this.close(this.#connection.malformedPrefix + error.message);
    }
    if (incoming.kind === "response") {
      this.#outbox.answered(incoming.id);
      this.#calls.settle(incoming);
    } else if (incoming.kind === "notification") this.#takeNotification(incoming);
    else this.#takeRequest(incoming);
  }

  #takeNotification({ method, params }: NotificationMessage): void {
    if (!Object.hasOwn(NOTIFICATIONS, method)) return;
    const name = method as NotificationName;
    try {
      const event = decodeNotification(name, params);
      if (event !== undefined) this.#options.owner.notification(event, this);
    } catch (error) {
      if (!(error instanceof ClientError)) this.#fault(error);
      this.close(`exec-server notification handling failed: ${(error as Error).message}`);
    }
  }

  /** A defect of ours costs this connection, never the program: carriers deliver from event handlers. */
  #fault(error: unknown): void {
    const stack = error instanceof Error ? error.stack ?? error.message : String(error);
    this.#options.log.error("a message of the server was not handled", { generation: this.generation, error: stack });
  }

  #takeRequest({ id, method, params, trace }: RequestMessage): void {
    const { owner, telemetry } = this.#options;
    if (!Object.hasOwn(SERVER_REQUESTS, method) || owner.request === undefined) {
      return this.replyError(id, METHOD_NOT_FOUND, `exec-server client does not implement \`${method}\` yet`);
    }
    if (!/^\d+$/.test(id)) return this.close("exec-server sent an invalid request ID");
    if (this.#serverRequests.has(id)) return this.close("exec-server reused an in-flight request ID");
    const request = { result: "disconnected" as const };
    this.#serverRequests.set(id, request);
    const attributes = { "rpc.system": "jsonrpc", "rpc.method": method };
    const span = telemetry.startSpan?.({ name: method, kind: "server", attributes, parent: trace });
    void owner.request(id, params, this).finally(() => {
      this.#serverRequests.delete(id);
      span?.end(request);
    });
  }
}

/** Undefined: an audit record that is none. Nothing depends on it, so that it costs nothing, as with the reference. */
function decodeNotification(method: NotificationName, params: Json): ServerEvent | undefined {
  try {
    return { method, params: NOTIFICATIONS[method].decode(params) } as ServerEvent;
  } catch (error) {
    if (!(error instanceof ExecError)) throw error;
    if (method === "network/policyDecision") return undefined;
    throw jsonError(error.message, error);
  }
}

function decodeResult<M extends RequestName>(method: M, json: Json): Result<M> {
  try {
    return REQUESTS[method].result.decode(json) as Result<M>;
  } catch (error) {
    if (!(error instanceof ExecError)) throw error;
    throw jsonError(error.message, error);
  }
}

/** What a request may carry as its trace; nothing instead of empty members. */
function sendable(trace: TraceContext | undefined): TraceContext | undefined {
  if (!trace?.traceparent) return undefined;
  return { traceparent: trace.traceparent, ...(trace.tracestate ? { tracestate: trace.tracestate } : {}) };
}
