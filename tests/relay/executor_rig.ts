import assert from "node:assert/strict";
import { ExecutorStreams } from "../../lib/relay/executor/executor_streams.ts";
import { encodeData, encodeHandshake, encodeReset } from "../../lib/relay/stream/frame.ts";
import { loadPrimitives } from "../../lib/relay/noise/load_primitives.ts";
import { type HandshakeContext, Initiator, type TransportKeys } from "../../lib/relay/noise/noise.ts";
import { RecordCipher } from "../../lib/relay/noise/record_cipher.ts";
import { prefixed } from "../../lib/relay/stream/records.ts";
import { StaticKeys } from "../../lib/relay/noise/static_keys.ts";
import type { RelayStream } from "../../lib/relay/stream/stream.ts";
import type { ValidationRequest, Verdict } from "../../lib/relay/executor/stream_host.ts";
import { ManualClock } from "../support/manual_clock.ts";
import { Recorder } from "../support/recorder.ts";
import { FakeSocket } from "./support_socket.ts";

export const primitives = await loadPrimitives();
/** Keys of the tests in a file: to make them anew would only take time. */
export const executorKeys = await StaticKeys.generate(primitives);
export const harnessKeys = await StaticKeys.generate(primitives);

const CONTEXT = { environmentId: "env-1", registrationId: "registration-1" };

/** A question to the registry, which the test answers. */
export interface Question {
  readonly request: ValidationRequest;
  readonly signal: AbortSignal;
  answer(verdict: Verdict): void;
  fail(error: Error): void;
}

/** The streams of an executor whose rendezvous, registry and harnesses are the test. */
export class ExecutorRig implements AsyncDisposable {
  readonly clock = new ManualClock();
  readonly socket = new FakeSocket();
  /** In the order in which the registry was asked. */
  readonly questions: Question[] = [];
  readonly opened: { readonly stream: RelayStream; readonly received: Recorder }[] = [];
  readonly refusals: string[] = [];
  readonly pauses: number[] = [];
  readonly streams: ExecutorStreams;
  /** What a question is answered with at once; without it the test answers. */
  verdict: Verdict | undefined;
  #waiters: { readonly count: number; readonly resolve: () => void }[] = [];

  constructor({ used = primitives, keys = executorKeys } = {}) {
    this.streams = new ExecutorStreams(this.socket, {
      keys,
      context: CONTEXT,
      primitives: used,
      clock: this.clock,
      events: {
        handshakeRefused: ({ reason }) => this.refusals.push(reason),
        paused: ({ forMs }) => this.pauses.push(forMs),
      },
      host: {
        validate: (request, signal) => this.#validate(request, signal),
        open: (stream) => this.opened.push({ stream, received: new Recorder(stream) }),
      },
    });
  }

  #validate(request: ValidationRequest, signal: AbortSignal): Promise<Verdict> {
    const { promise, resolve, reject } = Promise.withResolvers<Verdict>();
    this.questions.push({ request, signal, answer: resolve, fail: reject });
    if (this.verdict !== undefined) resolve(this.verdict);
    const ready = this.#waiters.filter(({ count }) => this.questions.length >= count);
    this.#waiters = this.#waiters.filter((waiter) => !ready.includes(waiter));
    for (const { resolve } of ready) resolve();
    return promise;
  }

  /** The `index`th question, once it has been asked. */
  async question(index: number): Promise<Question> {
    const count = index + 1;
    if (this.questions.length < count) await new Promise<void>((resolve) => this.#waiters.push({ count, resolve }));
    return this.questions[index]!;
  }

  /** A harness with a first message for the executor, which has not been sent. */
  async harness(streamId: string, options: HarnessOptions = {}): Promise<TestHarness> {
    const initiator = await Initiator.begin({
      primitives,
      own: harnessKeys,
      executor: options.executor ?? executorKeys.public,
      context: { ...CONTEXT, streamId, ...options.context },
      authorization: options.authorization ?? `authorization of ${streamId}`,
    });
    return new TestHarness(this.socket, streamId, initiator);
  }

  /** An open stream. */
  async open(streamId: string): Promise<TestHarness> {
    const harness = await this.harness(streamId);
    const asked = this.questions.length;
    const sent = this.socket.sent.length;
    harness.greet();
    (await this.question(asked)).answer("valid");
    await this.socket.frames(sent + 1);
    await harness.finish(this.socket.sent[sent]);
    return harness;
  }

  /** Lets `count` handshakes fail that nobody can read. */
  async failReads(count: number): Promise<void> {
    const sent = this.socket.sent.length;
    for (let i = 0; i < count; i++) this.socket.deliver(encodeHandshake(`unreadable ${i}`, new Uint8Array(3568)));
    await this.socket.frames(sent + count);
  }

  /** Resolves when all handshakes that were sent before have been read. */
  async allRead(): Promise<void> {
    const harness = await this.harness("marker");
    let next = this.questions.length;
    harness.greet();
    // Others may be asked about before it.
    while ((await this.question(next)).request.streamId !== "marker") next++;
    harness.reset();
  }

  /** The `index`th message of the `stream`th stream that was opened, once it has come. */
  async message(stream: number, index: number): Promise<string> {
    const message = (await this.opened[stream]!.received.received(index + 1))[index]!;
    return typeof message === "string" ? message : new TextDecoder().decode(message);
  }

  /** The kinds and streams of the frames that were sent. */
  get sent(): string[] {
    return this.socket.sent.map(({ kind, streamId }) => `${kind} ${streamId}`);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    for (const { answer } of this.questions) answer("denied");
    await this.streams[Symbol.asyncDispose]();
    assert.equal(this.clock.pendingTimers, 0, "timers are left");
  }
}

export interface HarnessOptions {
  readonly authorization?: string;
  readonly executor?: StaticKeys["public"];
  readonly context?: Partial<HandshakeContext>;
}

/** The other end of a stream. */
export class TestHarness {
  readonly message1: Uint8Array<ArrayBuffer>;
  readonly #socket: FakeSocket;
  readonly #streamId: string;
  readonly #initiator: Initiator;
  #keys: TransportKeys | undefined;
  #sealer: RecordCipher | undefined;

  constructor(socket: FakeSocket, streamId: string, initiator: Initiator) {
    this.#socket = socket;
    this.#streamId = streamId;
    this.#initiator = initiator;
    this.message1 = initiator.message1;
  }

  greet(message1 = this.message1): void {
    this.#socket.deliver(encodeHandshake(this.#streamId, message1));
  }

  reset(): void {
    this.#socket.deliver(encodeReset(this.#streamId));
  }

  /** Reads the executor's answer. @returns Its payload. */
  async finish(frame: FakeSocket["sent"][number] | undefined): Promise<Uint8Array> {
    assert(frame?.kind === "handshake", `${frame?.kind} is no answer`);
    assert.equal(frame.streamId, this.#streamId);
    const { payload, keys } = await this.#initiator.finish(frame.payload);
    this.#keys = keys;
    this.#sealer = new RecordCipher(primitives, keys.send, "seal");
    return payload;
  }

  /** Sends a short message. */
  send(text: string): void {
    const { seq } = this.#sealer!;
    this.#socket.deliver(encodeData(this.#streamId, seq, this.seal(text)));
  }

  /** A short message as the next record. */
  seal(text: string): Uint8Array<ArrayBuffer> {
    const record = this.#sealer!.seal(prefixed(text));
    assert(record instanceof Uint8Array, "the message is not short");
    return record;
  }

  /** A message of any length that one record holds, as the next record. */
  async sealLong(text: string): Promise<Uint8Array<ArrayBuffer>> {
    return await this.#sealer!.seal(prefixed(text));
  }

  /** Reads the first record that the executor has sent. */
  read(frame: FakeSocket["sent"][number] | undefined): string {
    assert(frame?.kind === "data");
    const opener = new RecordCipher(primitives, this.#keys!.receive, "open");
    return new TextDecoder().decode((opener.open(frame.payload) as Uint8Array).subarray(4));
  }
}
