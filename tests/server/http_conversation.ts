/** `http/request` as a connection has it, without the rest of a server. */
import { ExecError } from "../../lib/errors.ts";
import { httpRequestParams, httpRequestResult } from "../../lib/protocol/http.ts";
import { parseJson } from "../../lib/json.ts";
import type { Log } from "../../lib/log.ts";
import type { Result } from "../../lib/protocol/methods.ts";
import { memoryPair } from "../../lib/rpc/memory.ts";
import { ConnectionScope } from "../../lib/server/connection_scope.ts";
import { httpHandlers } from "../../lib/server/http_handlers.ts";
import { type Answer as Answered, EncodedResult } from "../../lib/server/handler.ts";
import { LargeResult } from "../../lib/server/large_result.ts";
import { ManualClock } from "../support/manual_clock.ts";

export interface Delta {
  readonly requestId: string;
  readonly seq: number;
  readonly deltaBase64: string;
  readonly done: boolean;
  readonly error: string | null;
}

export interface Answer {
  readonly status: number;
  readonly headers: { name: string; value: string }[];
  readonly bodyBase64: string;
}

export class HttpConversation implements AsyncDisposable {
  /** What was sent, in its order: `answer`, then the deltas. */
  readonly sent: ("answer" | Delta)[] = [];
  readonly clock = new ManualClock();
  readonly near;
  /** Until it is resolved, the client takes no further message. */
  taking: Promise<void> = Promise.resolve();
  /** False: the answer could not be handed to the carrier. */
  callBack = true;
  readonly #far;
  readonly #aborter = new AbortController();
  readonly #scope: ConnectionScope;
  readonly #handlers;
  #heard = Promise.withResolvers<void>();

  constructor(options: { variables?: Record<string, string>; log?: Log } = {}) {
    [this.near, this.#far] = memoryPair();
    this.#scope = new ConnectionScope(this.near, this.#aborter.signal);
    const variables = new Map(Object.entries(options.variables ?? {}));
    this.#handlers = httpHandlers({
      clock: this.clock,
      inherited: () => variables,
      ...options.log === undefined ? {} : { log: options.log },
    });
    this.#far.start({
      message: async (message) => {
        const { method, params } = JSON.parse(message as string) as { method: string; params: Delta };
        if (method !== "http/request/bodyDelta") throw new Error(`unexpected ${method}`);
        this.sent.push(params);
        this.#heard.resolve();
        this.#heard = Promise.withResolvers();
        await this.taking;
      },
      ended: () => {},
    });
    this.near.start({ message: () => {}, ended: () => this.end() });
  }

  /**
   * Sends one request; members that are left out are those of a buffered GET.
   *
   * @throws {ExecError}
   */
  async ask(members: Record<string, unknown>): Promise<Answer> {
    const params = parseJson(JSON.stringify({ requestId: "r", method: "GET", ...members }));
    const whenAnswered: (() => void)[] = [];
    const context = this.#context((callback) => whenAnswered.push(callback));
    const result = await this.#handlers["http/request"](httpRequestParams.decode(params), context);
    const json = resultJson(result);
    this.sent.push("answer");
    for (const callback of this.callBack ? whenAnswered : []) callback();
    return JSON.parse(json) as Answer;
  }

  /** Asks for a body to be held, or to go on. @returns Whether there is such a stream. */
  async hold(requestId: string, hold: boolean): Promise<boolean> {
    const result = await this.#handlers["execServer/http/holdBody"]({ requestId, hold }, this.#context());
    return (result as Result<"execServer/http/holdBody">).streaming;
  }

  /** Ends a stream. @returns Whether there was one. */
  async cancel(requestId: string): Promise<boolean> {
    const result = await this.#handlers["execServer/http/cancelBody"]({ requestId }, this.#context());
    return (result as Result<"execServer/http/cancelBody">).streaming;
  }

  #context(afterAnswer: (callback: () => void) => void = () => {}) {
    const { signal } = this.#aborter;
    return { session: undefined as never, signal, afterAnswer, connection: this.#scope };
  }

  /** The text of the refusal of a request, behind its kind. */
  async refusal(members: Record<string, unknown>): Promise<string> {
    try {
      await this.ask(members);
    } catch (error) {
      if (error instanceof ExecError) return `${error.kind}: ${error.message}`;
      throw error;
    }
    throw new Error("the request was not refused");
  }

  /** The deltas of a stream, once its last one has come. */
  async stream(requestId: string): Promise<Delta[]> {
    for (;;) {
      const deltas = this.sent.filter((each) => each !== "answer").filter((delta) => delta.requestId === requestId);
      if (deltas.at(-1)?.done) return deltas;
      await this.#heard.promise;
    }
  }

  /** Resolves when one more delta has come. */
  async delta(): Promise<void> {
    await this.#heard.promise;
  }

  /** The end of the connection. */
  end(): void {
    if (this.#aborter.signal.aborted) return;
    this.#aborter.abort(new ExecError("disconnected", "the connection has ended"));
    this.#scope[Symbol.dispose]();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.end();
    this.near.close();
    await undefined;
  }
}

function resultJson(result: Answered<"http/request">): string {
  if (result instanceof LargeResult) return result.between("", "");
  return result instanceof EncodedResult ? result.json : httpRequestResult.toJson!(result);
}
