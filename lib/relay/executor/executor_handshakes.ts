import type { Clock } from "../../clock.ts";
import type { RefusalReason, RemoteEvents } from "../events.ts";
import { FailureBudget } from "./failure_budget.ts";
import { MAX_AUTHORIZATION_BYTES, MAX_UNREAD_HANDSHAKES, PAUSE_MS } from "../limits.ts";
import { REJECTED_PAYLOAD, Responder, type TransportKeys } from "../noise/noise.ts";
import { PendingHandshake } from "./pending_handshake.ts";
import type { Primitives } from "../noise/primitives.ts";
import type { StaticKeys } from "../noise/static_keys.ts";
import type { StreamHost } from "./stream_host.ts";
import { type ValidationOutcome, Validations } from "./validations.ts";

export interface ExecutorHandshakesOptions {
  readonly keys: StaticKeys;
  readonly environmentId: string;
  readonly registrationId: string;
  readonly primitives: Primitives;
  readonly clock: Clock;
  readonly events: RemoteEvents;
  readonly host: StreamHost;
  /** The streams that handshakes have led to. */
  readonly streams: {
    has(streamId: string): boolean;
    isFull(): boolean;
    /** Queues the second message, and then makes the stream that the keys are of. They are the taker's to wipe. */
    accepted(streamId: string, message2: Uint8Array<ArrayBuffer>, keys: TransportKeys): void;
    /** Queues a second message that no stream follows. */
    rejected(streamId: string, message2: Uint8Array<ArrayBuffer>): void;
    reset(streamId: string): void;
  };
}

/** Of message 2, where the harness is let in. */
const ACCEPTED_PAYLOAD = new Uint8Array();

const REFUSALS: Readonly<Record<Exclude<ValidationOutcome, "valid" | "credentialsRejected">, RefusalReason>> = {
  "denied": "not authorized",
  "failed": "validation failed",
  "no credential": "executor credentials unavailable",
};

/**
 * The handshakes of one executor's socket, from a harness's first message to the answer. Cheap refusals come first, then
 * one message after the other is read, and the registry is asked about what was in it. There is no answer before it has
 * confirmed exactly that key and that authorization, and no verdict is used twice.
 *
 * Reading takes several turns of the event loop. What follows a first message on its stream is treated as if it had been
 * read at once, as the reference does. In particular the registry is asked also about a handshake that was abandoned in
 * the meantime: else whoever sends a message and a reset right behind it could have any number read at no cost. Only what
 * is abandoned before its turn has come is not read.
 */
export class ExecutorHandshakes {
  readonly #options: ExecutorHandshakesOptions;
  readonly #budget: FailureBudget;
  readonly #validations: Validations;
  readonly #pending = new Map<string, PendingHandshake>();
  /** Those whose turn to be read has not come, abandoned ones included. */
  #unread: PendingHandshake[] = [];
  #reading = false;
  /** What has been begun and may still use the keys. */
  readonly #running = new Set<Promise<void>>();
  #ended = false;

  constructor(options: ExecutorHandshakesOptions) {
    this.#options = options;
    this.#budget = new FailureBudget(options.clock);
    this.#validations = new Validations(options.host, options.clock);
  }

  /** A first message came. @param message1 Not changed by anybody afterwards. */
  offered(streamId: string, message1: Uint8Array<ArrayBuffer>): void {
    if (this.#budget.paused) return this.#refuse(streamId, "paused");
    if (this.#options.streams.has(streamId)) return this.#refuse(streamId, "stream active");
    if (this.#pending.has(streamId)) {
      this.#options.streams.reset(streamId);
      return this.interrupted(streamId);
    }
    if (this.#unread.length >= MAX_UNREAD_HANDSHAKES) return this.#refuse(streamId, "too many validations");
    const handshake = new PendingHandshake(streamId, message1);
    this.#pending.set(streamId, handshake);
    this.#unread.push(handshake);
    this.#readOn();
  }

  /** A pending handshake of this id, if there is one, has failed by what else came on its stream. */
  interrupted(streamId: string): void {
    const handshake = this.#pending.get(streamId);
    if (handshake === undefined) return;
    this.abandoned(streamId);
    this.#options.events.handshakeRefused?.({ reason: "stream pending" });
    this.#countFailure(handshake);
  }

  /** The peer does not want this any more. */
  abandoned(streamId: string): void {
    this.#pending.get(streamId)?.abandon();
    this.#pending.delete(streamId);
  }

  /** The socket has ended: call it once. Resolves when nothing uses the keys any more and no request is left. */
  async end(): Promise<void> {
    this.#ended = true;
    this.#unread = [];
    for (const streamId of this.#pending.keys()) this.abandoned(streamId);
    await this.#validations.end();
    await Promise.all(this.#running);
  }

  /** Reads one message after the other, unless it is refused when its turn has come. */
  #readOn(): void {
    while (!this.#reading) {
      const handshake = this.#unread.shift();
      if (handshake === undefined) return;
      if (handshake.isAbandoned) continue;
      const refusal = this.#refusal();
      if (refusal === undefined) {
        this.#reading = true;
        this.#run(this.#read(handshake));
      } else {
        this.#refusePending(handshake, refusal);
      }
    }
  }

  #refusal(): RefusalReason | undefined {
    if (this.#budget.paused) return "paused";
    if (this.#options.streams.isFull()) return "too many streams";
    return this.#validations.full ? "too many validations" : undefined;
  }

  async #read(handshake: PendingHandshake): Promise<void> {
    const read = await this.#readMessage(handshake);
    this.#reading = false;
    if (this.#ended) return read?.responder[Symbol.dispose]();
    if (read === undefined) this.#fail(handshake, "noise_relay_protocol_error");
    else this.#run(this.#decide(handshake, read.responder, read.authorization));
    this.#readOn();
  }

  /** @returns Nothing if the handshake has failed, whatever the cause: anybody can send anything. */
  async #readMessage({ streamId, message1 }: PendingHandshake): Promise<ReadMessage | undefined> {
    const { keys, environmentId, registrationId, primitives } = this.#options;
    const context = { environmentId, registrationId, streamId };
    const responder = await Responder.read({ primitives, own: keys, context, message1 }).catch(() => undefined);
    if (responder === undefined) return undefined;
    const authorization = takeAuthorization(responder.payload);
    if (authorization !== undefined) return { responder, authorization };
    responder[Symbol.dispose]();
    return undefined;
  }

  async #decide(handshake: PendingHandshake, responder: Responder, authorization: string): Promise<void> {
    using _secrets = responder;
    const { streamId } = handshake;
    const validation = this.#validations.start({ harness: responder.harness, authorization, streamId });
    const outcome = await Promise.race([validation, handshake.abandoned]);
    if (handshake.isAbandoned || outcome === undefined) return;
    if (outcome === "valid") return await this.#accept(handshake, responder);
    if (outcome === "credentialsRejected") return await this.#reject(handshake, responder);
    this.#fail(handshake, REFUSALS[outcome]);
  }

  async #accept(handshake: PendingHandshake, responder: Responder): Promise<void> {
    const { streams } = this.#options;
    if (streams.isFull()) return this.#refusePending(handshake, "too many streams");
    const answer = await responder.answer(ACCEPTED_PAYLOAD).catch(() => undefined);
    if (handshake.isAbandoned) return answer?.keys[Symbol.dispose]();
    if (answer === undefined) return this.#fail(handshake, "noise_relay_protocol_error");
    if (streams.isFull()) {
      answer.keys[Symbol.dispose]();
      return this.#refusePending(handshake, "too many streams");
    }
    this.#pending.delete(handshake.streamId);
    streams.accepted(handshake.streamId, answer.message2, answer.keys);
  }

  /** The registry does not take our own credential: the harness learns that, with authentication. */
  async #reject(handshake: PendingHandshake, responder: Responder): Promise<void> {
    const answer = await responder.answer(REJECTED_PAYLOAD).catch(() => undefined);
    answer?.keys[Symbol.dispose]();
    if (handshake.isAbandoned) return;
    if (answer === undefined) return this.#fail(handshake, "noise_relay_protocol_error");
    this.#pending.delete(handshake.streamId);
    this.#options.streams.rejected(handshake.streamId, answer.message2);
    this.#options.events.handshakeRefused?.({ reason: "executor credentials rejected" });
    this.#countFailure(handshake);
  }

  #fail(handshake: PendingHandshake, reason: RefusalReason): void {
    if (!handshake.isAbandoned) this.#refusePending(handshake, reason);
    else if (!handshake.counted) this.#options.events.handshakeRefused?.({ reason });
    this.#countFailure(handshake);
  }

  #refusePending(handshake: PendingHandshake, reason: RefusalReason): void {
    this.#pending.delete(handshake.streamId);
    this.#refuse(handshake.streamId, reason);
  }

  #refuse(streamId: string, reason: RefusalReason): void {
    this.#options.streams.reset(streamId);
    this.#options.events.handshakeRefused?.({ reason });
  }

  #countFailure(handshake: PendingHandshake): void {
    if (handshake.counted) return;
    handshake.counted = true;
    if (this.#budget.fail()) this.#options.events.paused?.({ forMs: PAUSE_MS });
  }

  /** Remembers what has been begun until it has ended. It does not reject. */
  #run(task: Promise<void>): void {
    this.#running.add(task);
    void task.finally(() => this.#running.delete(task));
  }
}

interface ReadMessage {
  readonly responder: Responder;
  readonly authorization: string;
}

/** @param payload Wiped. @returns Nothing if it is too long or not UTF-8. */
function takeAuthorization(payload: Uint8Array): string | undefined {
  try {
    if (payload.length > MAX_AUTHORIZATION_BYTES) return undefined;
    return new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(payload);
  } catch {
    return undefined;
  } finally {
    payload.fill(0);
  }
}
