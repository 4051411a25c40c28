import type { Clock } from "../clock.ts";
import { AssemblyBudget } from "./stream/assembly_budget.ts";
import { type DataFrame, decodeFrame, encodeHandshake, encodeResume } from "./stream/frame.ts";
import { FrameQueue } from "./stream/frame_queue.ts";
import { MAX_QUEUED_FRAMES } from "./limits.ts";
import { HandshakeError, Initiator, REJECTED_PAYLOAD, type TransportKeys } from "./noise/noise.ts";
import type { Primitives } from "./noise/primitives.ts";
import type { HarnessBundle } from "./registry/registry.ts";
import type { Dial, RelaySocket, SocketEndReason, SocketReceiver } from "./socket/relay_socket.ts";
import type { StaticKeys } from "./noise/static_keys.ts";
import { RelayStream } from "./stream/stream.ts";

export interface HarnessOptions {
  readonly bundle: HarnessBundle;
  readonly environmentId: string;
  /** The harness's own, which the bundle was made for. */
  readonly keys: StaticKeys;
  readonly primitives: Primitives;
  readonly dial: Dial;
  /** Of the upgrade. */
  readonly headers: Readonly<Record<string, string>>;
  /** TCP, TLS and upgrade together, in milliseconds. */
  readonly connectTimeoutMs: number;
  /** From the open socket to the second message of the handshake, in milliseconds. */
  readonly handshakeTimeoutMs: number;
  /** How the connection calls the other end. */
  readonly label: string;
  readonly clock: Clock;
  readonly signal: AbortSignal;
  /** The socket is open, and the handshake begins. */
  opened(): void;
}

/** A socket of its own for one stream: each ends with the other. */
export interface Harness {
  readonly stream: RelayStream;
  /** Resolves when nothing of the socket is left. */
  readonly gone: Promise<void>;
}

/** No stream, although there was a socket; that is gone. */
export class HarnessError extends Error {
  override readonly name = "HarnessError";

  /** @param detail For whoever debugs: nothing of it was made up by the other side. */
  constructor(
    readonly failure: "failed" | "timeout" | "executor credentials rejected",
    detail: string,
    options?: ErrorOptions,
  ) {
    super(`Noise handshake: ${detail}`, options);
  }
}

/**
 * Connects to an executor as its harness: over a socket of its own to the rendezvous, and nobody but the executor whose
 * key the registry gave can answer.
 *
 * @throws {DialError} There is no socket. {@linkcode HarnessError}: there was one. Or the signal's reason.
 */
export async function openHarness(options: HarnessOptions): Promise<Harness> {
  const { bundle, environmentId, keys, primitives, dial, headers, connectTimeoutMs, signal } = options;
  const streamId = crypto.randomUUID();
  // Before there is a socket: nothing is to come between its opening and the first frames.
  using initiator = await begin({
    ...{ primitives, own: keys, executor: bundle.executor, authorization: bundle.authorization },
    context: { environmentId, registrationId: bundle.registrationId, streamId },
  });
  signal.throwIfAborted();
  const socket = await dial(bundle.url, { headers, signal, timeoutMs: connectTimeoutMs });
  const harness = new HarnessSocket(socket, streamId, initiator.message1);
  try {
    options.opened();
    return { stream: await harness.shakeHands(initiator, options), gone: socket.gone };
  } catch (error) {
    socket.close("at once");
    await socket.gone;
    throw error;
  }
}

async function begin(options: Parameters<typeof Initiator.begin>[0]): Promise<Initiator> {
  try {
    return await Initiator.begin(options);
  } catch (error) {
    throw failed("the first message could not be made", error);
  }
}

/** Listens to the socket: for the second message of the handshake at first, then for the stream's frames. */
class HarnessSocket implements SocketReceiver {
  readonly #socket: RelaySocket;
  readonly #streamId: string;
  readonly #message2 = Promise.withResolvers<Uint8Array<ArrayBuffer>>();
  /** The second message has come. */
  #isAnswered = false;
  /** Records that came while the second message was being read; at most `MAX_QUEUED_FRAMES`. */
  #early: DataFrame[] = [];
  #stream: RelayStream | undefined;
  /** Why there will be no stream. */
  #failure: unknown;

  /** Starts the socket's delivery and sends what a harness has to say before it is answered. */
  constructor(socket: RelaySocket, streamId: string, message1: Uint8Array<ArrayBuffer>) {
    this.#socket = socket;
    this.#streamId = streamId;
    // It may fail before anybody waits for it.
    this.#message2.promise.catch(() => {});
    socket.start(this);
    socket.send(encodeResume(streamId));
    socket.send(encodeHandshake(streamId, message1));
  }

  /** @throws {HarnessError} There is no stream. Or the signal's reason. */
  async shakeHands(initiator: Initiator, options: HarnessOptions): Promise<RelayStream> {
    const { clock, handshakeTimeoutMs, signal } = options;
    const late = new HarnessError("timeout", "no answer in time");
    const timer = clock.after(handshakeTimeoutMs, () => this.#fail(late));
    const abort = () => this.#fail(signal.reason);
    if (signal.aborted) abort();
    signal.addEventListener("abort", abort);
    try {
      const { payload, keys } = await finish(initiator, await this.#message2.promise);
      return this.#open(payload, keys, options);
    } finally {
      timer.cancel();
      signal.removeEventListener("abort", abort);
    }
  }

  #open(payload: Uint8Array, keys: TransportKeys, { label, primitives, clock }: HarnessOptions): RelayStream {
    if (this.#failure === undefined && payload.length > 0) this.#failure = refusal(payload);
    if (this.#failure !== undefined) {
      keys[Symbol.dispose]();
      throw this.#failure;
    }
    this.#stream = new RelayStream({
      ...{ streamId: this.#streamId, label, keys, primitives, clock, role: "harness" },
      queue: new FrameQueue(this.#socket),
      budget: new AssemblyBudget(),
      // No reset: that the socket ends says it as well.
      ended: () => this.#socket.close("politely"),
    });
    const early = this.#early;
    this.#early = [];
    for (const frame of early) this.#stream.receive(frame);
    return this.#stream;
  }

  binary(message: Uint8Array<ArrayBuffer>): void {
    const frame = decodeFrame(message);
    if (frame === undefined) return this.#violated("what came is no frame");
    if (frame.streamId !== this.#streamId) return;
    switch (frame.kind) {
      case "handshake":
        if (this.#isAnswered) return this.#violated("a second answer came");
        this.#isAnswered = true;
        return this.#message2.resolve(frame.payload);
      case "data":
        return this.#data(frame);
      case "reset":
        if (this.#stream === undefined) return this.#fail(failed("it was reset"));
        return this.#stream.peerReset();
      case "invalid":
        return this.#violated("an invalid frame came");
      case "resume":
      case "ack":
      case "heartbeat": // Relics of a layer that nobody has: they mean nothing.
    }
  }

  text(): void {
    this.#violated("a text message came");
  }

  ended(reason: SocketEndReason): void {
    if (this.#stream === undefined) this.#fail(failed(`the socket ended: ${reason}`));
    else this.#stream.socketEnded(reason);
  }

  #data(frame: DataFrame): void {
    if (this.#stream !== undefined) return this.#stream.receive(frame);
    if (!this.#isAnswered) return this.#fail(failed("a record came before the answer"));
    if (this.#early.push(frame) > MAX_QUEUED_FRAMES) this.#fail(failed("too many records came with the answer"));
  }

  #violated(detail: string): void {
    if (this.#stream === undefined) return this.#fail(failed(detail));
    this.#stream.socketEnded("protocol violation");
    this.#socket.close("at once");
  }

  #fail(error: unknown): void {
    if (this.#stream !== undefined) return;
    this.#failure ??= error;
    this.#early = [];
    this.#message2.reject(this.#failure);
  }
}

async function finish(initiator: Initiator, message2: Uint8Array): ReturnType<Initiator["finish"]> {
  try {
    return await initiator.finish(message2);
  } catch (error) {
    if (!(error instanceof HandshakeError)) throw error;
    throw failed("the answer is not the executor's", error);
  }
}

/** What a payload in the answer means. It is authenticated, so that the executor itself has said it. */
function refusal(payload: Uint8Array): HarnessError {
  const isRejection = payload.length === REJECTED_PAYLOAD.length &&
    payload.every((byte, index) => byte === REJECTED_PAYLOAD[index]);
  if (isRejection) return new HarnessError("executor credentials rejected", "executor credentials rejected");
  return failed("the payload of the answer must be empty");
}

function failed(detail: string, cause?: unknown): HarnessError {
  return new HarnessError("failed", detail, { cause });
}
