import type { Clock } from "../clock.ts";
import { ExecError } from "../errors.ts";
import type { Json } from "../json.ts";
import type { Log } from "../log.ts";
import { afterLong } from "../long_timer.ts";
import { SERVER_REQUESTS } from "../protocol/methods.ts";
import type { ClientPart } from "./client_part.ts";
import {
  MAX_DECISION_HOST_BYTES,
  MAX_DECISION_PROCESS_ID_BYTES,
  MAX_DECISION_REASON_BYTES,
  MAX_SERVER_REQUESTS,
} from "./limits.ts";
import type { NetworkDecider, NetworkDecision, NetworkQuestion } from "./process.ts";
import type { ServerConnection } from "./server_connection.ts";

/** Who decides for one process. */
export interface ProcessDecider {
  readonly decide: NetworkDecider;
  readonly timeoutMs: number;
  /** Aborted when the process is of no interest any more. */
  readonly signal: AbortSignal;
}

const NOT_ALLOWED = { type: "deny", reason: "not_allowed" } as const;
const INVALID_PARAMS = -32602;
// deno-lint-ignore no-control-regex -- it is control characters that are looked for
const BLANK_OR_CONTROL = /[\s\x00-\x1f\x7f-\x9f]/;
// deno-lint-ignore no-control-regex -- as above
const CONTROL = /[\x00-\x1f\x7f-\x9f]/;

/** Answers the server's questions about the network of processes. Whatever cannot be asked or decided is denied. */
export class NetworkDecisions implements ClientPart {
  readonly #clock: Clock;
  readonly #log: Log;
  readonly #deciderOf: (processId: string) => ProcessDecider | undefined;
  /** Deciders at work, those of lost connections included. */
  #inFlight = 0;
  /** Aborted, and replaced, when the connection is lost. */
  #connected = new AbortController();

  constructor(core: { clock: Clock; log: Log }, deciderOf: (processId: string) => ProcessDecider | undefined) {
    this.#clock = core.clock;
    this.#log = core.log;
    this.#deciderOf = deciderOf;
  }

  /**
   * One `network/policyRequest`. Nothing is sent if the process or the connection is gone before the decision.
   *
   * @param id For {@linkcode ServerConnection.reply}.
   */
  async request(id: string, params: Json, connection: ServerConnection): Promise<void> {
    const { params: codec, result } = SERVER_REQUESTS["network/policyRequest"];
    let question: NetworkQuestion;
    try {
      const { processId, request } = codec.decode(params);
      question = { processId, ...request };
    } catch (error) {
      if (!(error instanceof ExecError)) throw error;
      return connection.replyError(id, INVALID_PARAMS, "invalid network policy request params");
    }
    const decision = await this.#decide(question);
    if (decision !== undefined) connection.reply(id, result.encode({ decision }));
  }

  disconnected(): void {
    this.#connected.abort(new Error("the connection was lost"));
    this.#connected = new AbortController();
  }

  async #decide(question: NetworkQuestion): Promise<NetworkDecision | undefined> {
    const decider = isSound(question) ? this.#deciderOf(question.processId) : undefined;
    if (decider === undefined || this.#inFlight >= MAX_SERVER_REQUESTS) return NOT_ALLOWED;
    const timeout = Promise.withResolvers<NetworkDecision>();
    const gone = Promise.withResolvers<undefined>();
    const unwanted = new AbortController();
    const timer = afterLong(this.#clock, decider.timeoutMs, () => {
      timeout.resolve(NOT_ALLOWED);
      unwanted.abort(new Error("too late for a decision"));
    });
    const lost = AbortSignal.any([decider.signal, this.#connected.signal]);
    const giveUp = (): void => {
      gone.resolve(undefined);
      unwanted.abort(lost.reason);
    };
    lost.addEventListener("abort", giveUp, { once: true });
    try {
      return await Promise.race([this.#ask(decider, question, unwanted.signal), timeout.promise, gone.promise]);
    } finally {
      timer.cancel();
      lost.removeEventListener("abort", giveUp);
    }
  }

  async #ask(decider: ProcessDecider, question: NetworkQuestion, signal: AbortSignal): Promise<NetworkDecision> {
    this.#inFlight++;
    try {
      return soundDecision(await decider.decide(question, signal));
    } catch (error) {
      if (!signal.aborted) {
        this.#log.warn("a network decider failed", { process: question.processId, error: String(error) });
      }
      return NOT_ALLOWED;
    } finally {
      this.#inFlight--;
    }
  }
}

function isSound({ processId, host }: NetworkQuestion): boolean {
  const isProcessId = processId !== "" && utf8Length(processId) <= MAX_DECISION_PROCESS_ID_BYTES;
  return isProcessId && host !== "" && utf8Length(host) <= MAX_DECISION_HOST_BYTES && !BLANK_OR_CONTROL.test(host);
}

/** @throws {TypeError} It is none: not every decider is checked by a compiler. */
function soundDecision({ type, reason }: { readonly type: string; readonly reason?: unknown }): NetworkDecision {
  if (type === "allow") return { type };
  if (type !== "deny" && type !== "ask") throw new TypeError("the answer is neither allow, nor deny, nor ask");
  const isSound = typeof reason === "string" && utf8Length(reason) <= MAX_DECISION_REASON_BYTES &&
    !CONTROL.test(reason);
  return { type, reason: isSound ? reason : NOT_ALLOWED.reason };
}

function utf8Length(text: string): number {
  return new TextEncoder().encode(text).length;
}
