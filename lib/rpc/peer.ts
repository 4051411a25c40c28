import { ExecError } from "../errors.ts";
import { Fifo } from "../fifo.ts";
import type { Json } from "../json.ts";
import type { Log } from "../log.ts";
import type { Observer, RequestOutcome, TraceContext, TransportName } from "../observer.ts";
import type { Connection, ConnectionEnd, Message } from "./connection.ts";
import { INVALID_REQUEST, toRpcError, UNDECODABLE_ID } from "./error_code.ts";
import { InputBudget, weightOf } from "./input_budget.ts";
import { LaneQueue } from "./lane_queue.ts";
import {
  decodeMessage,
  encodeError,
  encodeNotification,
  encodeRequest,
  encodeResult,
  type Incoming,
  MalformedMessage,
  type RequestMessage,
} from "./message.ts";
import { type PeerHandler, ProtocolViolation, type RequestScope } from "./peer_handler.ts";
import { PendingRequests } from "./pending_requests.ts";
import { turnSlice } from "./turn_slice.ts";

export interface PeerOptions {
  readonly connection: Connection;
  readonly transport: TransportName;
  readonly handler: PeerHandler;
  readonly log: Log;
  readonly observer: Observer;
  /** Requests of the other side that may run at once, in each lane; 1: strictly one after the other. */
  readonly concurrency: number;
  /** Whether a response to no request of ours ends the connection (a server) or is ignored (a client). */
  readonly strictResponses: boolean;
  /** Milliseconds that never run backwards; the machine's own unless a test decides. */
  readonly now?: () => number;
  /** Called once, when the connection has ended and nothing is pending any more. */
  readonly ended?: (end: ConnectionEnd) => void;
}

const TOO_BIG = 1009;
const PROTOCOL_ERROR = 1002;
const POLICY_VIOLATION = 1008;
const INTERNAL_ERROR = 1011;

let connections = 0;

/**
 * One end of a conversation: takes the other side's messages in turn, matches replies to our own requests, and fails
 * what is pending when the connection ends.
 */
export class Peer {
  readonly connectionId = ++connections;
  readonly #options: PeerOptions;
  readonly #connection: Connection;
  readonly #now: () => number;
  readonly #aborter = new AbortController();
  /** Messages that have not had their turn; what waits counts as unanswered input. */
  readonly #queue = new Fifo<Message>();
  #busy = false;
  /** Busy with nothing: others have their turn. */
  #pausing = false;
  /** While busy: what the queue waits for. */
  #turn: Promise<void> = Promise.resolve();
  /** Requests whose handlers have not come back yet. */
  #awaited = 0;
  /** Resolved when there are none; only while somebody waits for it. */
  #quiet: PromiseWithResolvers<void> | undefined;
  #ended = false;
  readonly #input = new InputBudget();
  #requests = 0;
  readonly #lanes: { readonly ordinary: LaneQueue; readonly control: LaneQueue };
  readonly #pending = new PendingRequests();

  constructor(options: PeerOptions) {
    this.#options = options;
    this.#connection = options.connection;
    this.#now = options.now ?? (() => performance.now());
    const lane = () => new LaneQueue(options.concurrency, this.#now);
    this.#lanes = { ordinary: lane(), control: lane() };
    options.observer.connectionOpened?.({ connectionId: this.connectionId, transport: options.transport });
    options.log.info("connection opened", { connection: this.connectionId, peer: options.connection.label });
    this.#connection.start({
      message: (message) => this.#receive(message),
      inputEnded: () => this.#answerWhatCanBe(),
      ended: (end) => this.#end(end),
    });
  }

  /** Aborted when the connection has ended. */
  get signal(): AbortSignal {
    return this.#aborter.signal;
  }

  get ended(): boolean {
    return this.#ended;
  }

  /** Sends one notification. */
  notify(method: string, params: unknown): void {
    this.#connection.send(encodeNotification(method, params));
  }

  /**
   * Asks the other side. Waits without limit for the answer, unless `signal` is aborted.
   *
   * @throws {ExecError} What the other side answered, or `disconnected`.
   */
  request(
    method: string,
    params: unknown,
    options: { signal?: AbortSignal; trace?: TraceContext } = {},
  ): Promise<Json> {
    if (this.#ended) return Promise.reject(new ExecError("disconnected", "the connection has ended"));
    const { signal, trace } = options;
    return this.#pending.open((id) => this.#connection.send(encodeRequest(id, method, params, trace)), signal);
  }

  /** Ends the connection; the reason is for the log. */
  close(reason: string, code?: number): void {
    this.#connection.close(code, reason);
  }

  #receive(message: Message): void | Promise<void> {
    if (this.#ended) return;
    this.#input.received(weightOf(message));
    if (this.#input.exceeded) {
      this.#options.log.warn("connection ended: too much unanswered input", {
        connection: this.connectionId,
        bytes: this.#input.bytes,
      });
      return this.close("too much unanswered input", TOO_BIG);
    }
    // What has to wait is judged now, where a bad message ends the connection: it ends what is in progress as well.
    if (this.#busy && this.#connection.endsAtMalformed === true && !this.#isWellFormed(message)) return;
    this.#queue.push(message);
    this.#pump();
    if (this.#connection.maxWaitingMessages !== undefined) this.#limitWaiting(this.#connection.maxWaitingMessages);
    return this.#input.relief();
  }

  /** Ends the connection at a message that cannot be decoded. */
  #isWellFormed(message: Message): boolean {
    try {
      decodeMessage(message);
      return true;
    } catch (error) {
      if (!(error instanceof MalformedMessage)) throw error;
      this.#endAtMalformed();
      return false;
    }
  }

  #endAtMalformed(): void {
    this.#options.log.warn("connection ended: a message that cannot be decoded", { connection: this.connectionId });
    this.close("malformed message", PROTOCOL_ERROR);
  }

  /** Ends the connection when too much waits behind what is in progress; during a pause nothing is. */
  #limitWaiting(limit: number): void {
    if (!this.#busy || this.#pausing || this.#queue.length <= limit) return;
    this.#options.log.warn("connection ended: too many messages wait", { connection: this.connectionId, limit });
    this.close("too many messages wait", POLICY_VIOLATION);
  }

  /** Gives every queued message its turn, until one has to be waited for. */
  #pump(): void {
    const pause = turnSlice(this.#now);
    while (!this.#busy && !this.#ended) {
      const message = this.#queue.shift();
      if (message === undefined) return;
      const turn = this.#takeSafely(message);
      const rest = turn ?? pause();
      this.#pausing = turn === undefined;
      if (rest !== undefined) this.#waitFor(rest);
    }
  }

  #waitFor(turn: Promise<void>): void {
    this.#busy = true;
    this.#turn = turn.then(() => {
      this.#busy = false;
      this.#pump();
    });
  }

  /** The end of the input: what came before is still answered. How long that may take is for the carrier to say. */
  async #answerWhatCanBe(): Promise<void> {
    while (!this.#ended && (this.#busy || this.#awaited > 0)) {
      await (this.#busy ? this.#turn : (this.#quiet ??= Promise.withResolvers()).promise);
    }
  }

  /** A fault of ours costs this connection, never the process: carriers deliver from event handlers. */
  #takeSafely(message: Message): Promise<void> | undefined {
    try {
      return this.#take(message);
    } catch (error) {
      return this.#fault(error);
    }
  }

  #fault(error: unknown): undefined {
    this.#options.log.error("message failed unexpectedly", {
      connection: this.connectionId,
      error: error instanceof Error ? error.stack ?? error.message : String(error),
    });
    this.close("internal error", INTERNAL_ERROR);
  }

  /** Handles one message; a promise if the messages behind it have to wait. */
  #take(message: Message): Promise<void> | undefined {
    const bytes = weightOf(message);
    let incoming: Incoming;
    try {
      incoming = decodeMessage(message);
    } catch (error) {
      if (!(error instanceof MalformedMessage)) throw error;
      if (this.#connection.endsAtMalformed === true) {
        this.#endAtMalformed();
        return undefined;
      }
      this.#connection.send(encodeError(UNDECODABLE_ID, {
        code: INVALID_REQUEST,
        message: this.#connection.malformedPrefix + error.message,
      }));
      return this.#done(bytes);
    }
    if (incoming.kind === "request") return this.#takeRequest(incoming, message);
    try {
      if (incoming.kind === "notification") this.#options.handler.notification(incoming.method, incoming.params);
      else if (!this.#pending.settle(incoming) && this.#options.strictResponses) {
        throw new ProtocolViolation("a response to no request of ours");
      }
    } catch (error) {
      if (!(error instanceof ProtocolViolation)) throw error;
      this.#options.log.warn("connection ended: protocol violation", {
        connection: this.connectionId,
        violation: error.message,
      });
      this.close("protocol violation", PROTOCOL_ERROR);
    }
    return this.#done(bytes);
  }

  #takeRequest(request: RequestMessage, message: Message): Promise<void> | undefined {
    const { handler, concurrency } = this.#options;
    const bytes = weightOf(message);
    const lane = concurrency > 1 && handler.concurrent
      ? handler.lane(request.method, (isMeant) => this.#lanes.ordinary.holds(isMeant))
      : undefined;
    if (lane === undefined) return this.#answer(request, bytes);
    if (lane === "immediate") {
      void this.#answer(request, bytes);
      return this.#relief();
    }
    const queue = this.#lanes[lane];
    if (!queue.full) queue.run(this.#answer(request, bytes));
    // It waits as it came: decoded it can take more than ten times the memory.
    else {
      queue.wait(
        request.method,
        () => this.#ended ? undefined : this.#answer(decodeMessage(message) as RequestMessage, bytes),
      );
    }
    return undefined;
  }

  /** Runs one request and sends its answer; a promise unless all of it is done. Never throws or rejects. */
  #answer(request: RequestMessage, bytes: number): Promise<void> | undefined {
    const { method, trace } = request;
    const requestNumber = ++this.#requests;
    const { observer } = this.#options;
    observer.requestReceived?.({ connectionId: this.connectionId, requestNumber, method, trace });
    let answered: (() => void)[] | undefined;
    const scope: RequestScope = {
      signal: this.signal,
      afterAnswer: (callback) => (answered ??= []).push(callback),
    };
    const finish = (text: string, success: boolean): Promise<void> | undefined => {
      if (!this.#ended) {
        this.#connection.send(text);
        if (answered !== undefined) { for (const callback of answered) callback(); }
      }
      const outcome: RequestOutcome = this.#ended ? "disconnected" : success ? "success" : "error";
      observer.requestAnswered?.({ connectionId: this.connectionId, requestNumber, method, outcome, trace });
      return this.#done(bytes);
    };
    const fail = (error: unknown): Promise<void> | undefined => {
      try {
        return finish(encodeError(request.id, this.#describe(error, method)), false);
      } catch (fault) {
        return this.#fault(fault);
      }
    };
    try {
      const result = this.#options.handler.request(method, request.params, scope);
      if (!(result instanceof Promise)) return finish(encodeResult(request.id, result), true);
      this.#awaited++;
      return result.then((json) => finish(encodeResult(request.id, json), true)).catch(fail)
        .finally(() => this.#answeredOne());
    } catch (error) {
      return fail(error);
    }
  }

  #answeredOne(): void {
    if (--this.#awaited > 0) return;
    this.#quiet?.resolve();
    this.#quiet = undefined;
  }

  #describe(error: unknown, method: string): { code: number; message: string } {
    const known = toRpcError(error);
    if (known !== undefined) return known;
    if (!this.signal.aborted) {
      this.#options.log.error("request failed unexpectedly", {
        connection: this.connectionId,
        method,
        error: error instanceof Error ? error.stack ?? error.message : String(error),
      });
    }
    return { code: -32603, message: "internal error" };
  }

  /** One message has been dealt with. The promise asks for a pause. */
  #done(bytes: number): Promise<void> | undefined {
    this.#input.answered(bytes);
    return this.#relief();
  }

  /** A promise while the other side does not read its answers. */
  #relief(): Promise<void> | undefined {
    return this.#connection.congested && !this.#ended ? this.#connection.drained() : undefined;
  }

  #end(end: ConnectionEnd): void {
    if (this.#ended) return;
    this.#ended = true;
    this.#queue.clear();
    const lost = new ExecError("disconnected", "the connection has ended");
    this.#aborter.abort(lost);
    this.#quiet?.resolve();
    this.#pending.fail(lost);
    this.#input.release();
    const { observer, transport, log } = this.#options;
    observer.connectionEnded?.({ connectionId: this.connectionId, transport, reason: end.reason });
    log.info("connection ended", { connection: this.connectionId, reason: end.reason });
    this.#options.ended?.(end);
  }
}
