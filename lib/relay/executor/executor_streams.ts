import { AssemblyBudget } from "../stream/assembly_budget.ts";
import type { Clock } from "../../clock.ts";
import type { RemoteEvents } from "../events.ts";
import { ExecutorHandshakes } from "./executor_handshakes.ts";
import { type DataFrame, decodeFrame, encodeHandshake, encodeReset } from "../stream/frame.ts";
import { FrameQueue } from "../stream/frame_queue.ts";
import { MAX_ACTIVE_STREAMS, MAX_STREAM_ID_BYTES } from "../limits.ts";
import type { TransportKeys } from "../noise/noise.ts";
import { ownBytes } from "../socket/own_bytes.ts";
import type { Primitives } from "../noise/primitives.ts";
import type { RelaySocket, SocketEndReason } from "../socket/relay_socket.ts";
import type { StaticKeys } from "../noise/static_keys.ts";
import { RelayStream } from "../stream/stream.ts";
import type { StreamHost } from "./stream_host.ts";

export interface ExecutorStreamsOptions {
  readonly keys: StaticKeys;
  /** Both are hashed into every handshake: one that was made for something else fails. */
  readonly context: { readonly environmentId: string; readonly registrationId: string };
  readonly primitives: Primitives;
  readonly clock: Clock;
  readonly events: RemoteEvents;
  readonly host: StreamHost;
}

/**
 * The streams of an executor's socket, at most `MAX_ACTIVE_STREAMS`. Whoever holds the rendezvous can end or stall them by
 * what it sends, and nothing else: frames that are no frames are dropped, and a stream begins with a handshake that the
 * registry has confirmed.
 */
export class ExecutorStreams implements AsyncDisposable {
  /** Why the socket ended, when it has. */
  readonly ended: Promise<SocketEndReason>;
  readonly #socket: RelaySocket;
  readonly #options: ExecutorStreamsOptions;
  readonly #queue: FrameQueue;
  readonly #assembly = new AssemblyBudget();
  readonly #handshakes: ExecutorHandshakes;
  readonly #active = new Map<string, RelayStream>();
  readonly #end = Promise.withResolvers<SocketEndReason>();
  /** Resolves when nothing of the handshakes is left; set when the socket has ended. */
  #tidied: Promise<void> | undefined;

  /** Starts the socket's delivery. */
  constructor(socket: RelaySocket, options: ExecutorStreamsOptions) {
    this.#socket = socket;
    this.#options = options;
    this.ended = this.#end.promise;
    this.#queue = new FrameQueue(socket);
    this.#handshakes = new ExecutorHandshakes({
      ...options,
      ...options.context,
      streams: {
        has: (streamId) => this.#active.has(streamId),
        isFull: () => this.#active.size >= MAX_ACTIVE_STREAMS,
        accepted: (streamId, message2, keys) => this.#open(streamId, message2, keys),
        rejected: (streamId, message2) => void this.#queue.offer(encodeHandshake(streamId, message2)),
        reset: (streamId) => this.#reset(streamId),
      },
    });
    socket.start({
      binary: (message) => this.#receive(message),
      text() {}, // The reference ignores them: nothing of the relay is text.
      ended: (reason) => this.#socketEnded(reason),
    });
  }

  /** How many streams there are. */
  get active(): number {
    return this.#active.size;
  }

  /** Drops the socket with all that is on it. Nothing is left, and the keys are not used any more, when it resolves. */
  async [Symbol.asyncDispose](): Promise<void> {
    this.#socket.close("at once");
    this.#socketEnded("closed by us");
    await this.#tidied;
    await this.#socket.gone;
  }

  #receive(message: Uint8Array<ArrayBuffer>): void {
    if (this.#tidied !== undefined) return;
    const frame = decodeFrame(message);
    if (frame === undefined || !isAnswerable(frame.streamId)) return;
    switch (frame.kind) {
      case "handshake":
        return this.#handshakes.offered(frame.streamId, ownBytes(frame.payload));
      case "data":
        return this.#receiveData(frame);
      case "reset":
        this.#handshakes.abandoned(frame.streamId);
        return this.#forget(frame.streamId)?.peerReset();
      case "invalid":
      case "resume":
      case "ack":
      case "heartbeat": // The last three are relics: nobody acknowledges, and nothing is sent again.
        return;
    }
  }

  #receiveData(frame: DataFrame): void {
    const stream = this.#active.get(frame.streamId);
    if (stream !== undefined) return stream.receive(frame);
    this.#reset(frame.streamId);
    this.#handshakes.interrupted(frame.streamId);
  }

  /** No await in here: the second message goes first, then the stream takes records, and then it is somebody's. */
  #open(streamId: string, message2: Uint8Array<ArrayBuffer>, keys: TransportKeys): void {
    if (!this.#queue.offer(encodeHandshake(streamId, message2))) {
      // The socket takes nothing: a stream that the harness does not hear of would stay for good.
      keys[Symbol.dispose]();
      return;
    }
    const stream = new RelayStream({
      streamId,
      label: "relay stream",
      keys,
      primitives: this.#options.primitives,
      queue: this.#queue,
      budget: this.#assembly,
      role: "executor",
      clock: this.#options.clock,
      ended: () => {
        // The peer may have begun another one with the same id.
        if (this.#active.get(streamId) === stream) this.#active.delete(streamId);
      },
    });
    this.#active.set(streamId, stream);
    this.#options.host.open(stream);
  }

  #forget(streamId: string): RelayStream | undefined {
    const stream = this.#active.get(streamId);
    this.#active.delete(streamId);
    return stream;
  }

  #reset(streamId: string): void {
    this.#queue.offer(encodeReset(streamId));
  }

  #socketEnded(reason: SocketEndReason): void {
    if (this.#tidied !== undefined) return;
    this.#tidied = this.#handshakes.end();
    for (const stream of [...this.#active.values()]) stream.socketEnded(reason);
    this.#active.clear();
    this.#end.resolve(reason);
  }
}

/**
 * Ours: a stream whose id leaves no room for a full record is none. Otherwise somebody who may not do anything could send a
 * frame that fits, have it answered by a reset that does not, and with that end the socket and everybody's streams.
 */
function isAnswerable(streamId: string): boolean {
  return streamId.length * 3 <= MAX_STREAM_ID_BYTES ||
    new TextEncoder().encode(streamId).length <= MAX_STREAM_ID_BYTES;
}
