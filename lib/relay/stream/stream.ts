import { type Clock, type Timer, waitingClock } from "../../clock.ts";
import {
  type Connection,
  type ConnectionEnd,
  HIGH_WATER_BYTES,
  type Receiver,
  SHARED_HIGH_WATER_BYTES,
} from "../../rpc/connection.ts";
import type { AssemblyBudget } from "./assembly_budget.ts";
import { encodeReset } from "./frame.ts";
import type { FrameQueue } from "./frame_queue.ts";
import { MAX_WAITING_MESSAGES } from "../limits.ts";
import type { Primitives } from "../noise/primitives.ts";
import { RecordCipher } from "../noise/record_cipher.ts";
import { RecordReceiver } from "./record_receiver.ts";
import { RecordSender } from "./record_sender.ts";
import { prefixed } from "./records.ts";
import { StreamError } from "./stream_error.ts";
import type { TransportKeys } from "../noise/transport_keys.ts";
import { WaitingMessages } from "./waiting_messages.ts";

/** How long what was sent before `close` may take to leave. */
const CLOSE_PATIENCE_MS = 2_000;

export interface RelayStreamOptions {
  readonly streamId: string;
  /** How log lines call the other end; without the stream id, which the other end made up. */
  readonly label: string;
  /** Belong to the stream from here on; they are wiped when it ends. */
  readonly keys: TransportKeys;
  readonly primitives: Primitives;
  readonly queue: FrameQueue;
  /** Shared by the streams of one socket. */
  readonly budget: AssemblyBudget;
  /** Whose end this is. A harness sends no reset: it closes its socket. */
  readonly role: "executor" | "harness";
  readonly clock?: Clock;
  /**
   * Called once, when the stream sends nothing any more, not even its reset: it can be forgotten.
   *
   * @param own It ended from this side, by `close` or by a fault.
   */
  readonly ended?: (end: ConnectionEnd, own: boolean) => void;
}

/**
 * One stream of the relay as a connection: records in frames in, messages out, and the other way round. It begins when
 * the handshake is done. Delivery never holds up the socket: what the receiver does not take at once waits here, and a
 * stream whose bounds are passed ends.
 */
export class RelayStream implements Connection {
  readonly label: string;
  readonly malformedPrefix: string;
  readonly endsAtMalformed = true;
  readonly maxWaitingMessages?: number;
  sharing = false;
  readonly #options: RelayStreamOptions;
  readonly #sealing: RecordCipher;
  readonly #opening: RecordCipher;
  readonly #sender: RecordSender;
  readonly #records: RecordReceiver;
  readonly #waiting: WaitingMessages;
  #receiver: Receiver | undefined;
  /** Set as soon as nothing more is delivered or taken for sending. */
  #end: ConnectionEnd | undefined;
  /** It was reset, or has lost its socket: nothing is sent any more, while what came before is still delivered. */
  #peerGone = false;
  #gone = false;
  /** While what was sent before `close` is leaving. */
  #patience: Timer | undefined;
  #drainWaiters: (() => void)[] = [];

  constructor(options: RelayStreamOptions) {
    const { label, keys, primitives, queue, budget, role, streamId } = options;
    this.label = label;
    this.malformedPrefix = `failed to parse JSON-RPC message from ${label}: `;
    if (role === "executor") this.maxWaitingMessages = MAX_WAITING_MESSAGES;
    this.#options = options;
    this.#sealing = new RecordCipher(primitives, keys.send, "seal");
    this.#opening = new RecordCipher(primitives, keys.receive, "open");
    keys[Symbol.dispose]();
    const failed = (error: StreamError) => this.#fail(error);
    this.#sender = new RecordSender({ streamId, cipher: this.#sealing, queue, sent: () => this.#release(), failed });
    this.#records = new RecordReceiver({
      cipher: this.#opening,
      budget,
      message: (message) => this.#waiting.deliver(message),
      failed,
    });
    this.#waiting = new WaitingMessages(budget, this.maxWaitingMessages);
  }

  start(receiver: Receiver): void {
    const end = this.#end;
    this.#receiver = receiver;
    if (end === undefined) this.#waiting.start((message) => receiver.message(message));
    else receiver.ended(end);
  }

  /** A data frame of this stream. */
  receive({ seq, payload }: { readonly seq: number; readonly payload: Uint8Array<ArrayBuffer> }): void {
    if (this.#end === undefined && !this.#peerGone) this.#records.accept(seq, payload);
  }

  /** A reset frame of this stream: it ends without an answer, after what came before. */
  peerReset(): void {
    this.#endAfterRecords({ reason: "reset by the peer" });
  }

  /** The socket is no more. @param reason For the log. */
  socketEnded(reason: string): void {
    this.#endAfterRecords({
      reason,
      failure: `failed to read JSON-RPC message from ${this.label}: ${reason}`,
    });
  }

  send(message: string): void {
    this.sendBytes(message);
  }

  /** Sends a message that is bytes already; they are copied. */
  sendBytes(message: string | Uint8Array): void {
    if (this.#end !== undefined) return;
    try {
      this.#sender.push(prefixed(message));
    } catch (error) {
      if (!(error instanceof StreamError)) throw error;
      this.#fail(error);
    }
  }

  get congested(): boolean {
    return this.#end === undefined &&
      this.#sender.queuedBytes > (this.sharing ? SHARED_HIGH_WATER_BYTES : HIGH_WATER_BYTES);
  }

  drained(): Promise<void> {
    if (!this.congested) return Promise.resolve();
    return new Promise((resolve) => this.#drainWaiters.push(resolve));
  }

  close(_code?: number, reason = "closed by us"): void {
    if (this.#end !== undefined) return;
    this.#finish({ reason });
    if (this.#peerGone) return this.#leave();
    const { clock = waitingClock, role, streamId } = this.#options;
    const last = role === "executor" ? encodeReset(streamId) : undefined;
    this.#sender.finish(last, () => this.#leave());
    if (!this.#gone) this.#patience = clock.after(CLOSE_PATIENCE_MS, () => this.#breakOff());
  }

  #fail({ fault }: StreamError): void {
    if (this.#end === undefined) {
      this.#finish({ reason: fault, failure: `connection with ${this.label} ended: ${fault}` });
    }
    this.#breakOff();
  }

  /** Ends without regard to what is queued. */
  #breakOff(): void {
    if (this.#gone) return;
    this.#sender.end();
    const { queue, role, streamId } = this.#options;
    // Without room it is dropped, as the reference does: then nothing reaches the peer anyway.
    if (role === "executor" && !this.#peerGone) queue.offer(encodeReset(streamId));
    this.#leave();
  }

  #endAfterRecords(end: ConnectionEnd): void {
    if (this.#peerGone) return;
    this.#peerGone = true;
    this.#sender.end();
    this.#records.whenIdle(() => {
      this.#finish(end);
      this.#leave();
    });
  }

  /** Nothing more comes and nothing more is taken. */
  #finish(end: ConnectionEnd): void {
    if (this.#end !== undefined) return;
    this.#end = end;
    this.#records.end();
    this.#waiting.end();
    this.#opening[Symbol.dispose]();
    this.#release();
    this.#receiver?.ended(end);
  }

  /** Nothing more is sent. */
  #leave(): void {
    if (this.#gone) return;
    this.#gone = true;
    this.#patience?.cancel();
    this.#sender.end();
    this.#sealing[Symbol.dispose]();
    this.#options.ended?.(this.#end!, !this.#peerGone);
  }

  #release(): void {
    if (this.#drainWaiters.length === 0 || this.congested) return;
    const waiters = this.#drainWaiters;
    this.#drainWaiters = [];
    for (const resolve of waiters) resolve();
  }
}
