import assert from "node:assert/strict";
import { encodeData, encodeHandshake } from "../../lib/relay/stream/frame.ts";
import { type Harness, type HarnessOptions, openHarness } from "../../lib/relay/harness.ts";
import { loadPrimitives } from "../../lib/relay/noise/load_primitives.ts";
import { Responder, type TransportKeys } from "../../lib/relay/noise/noise.ts";
import { RecordCipher } from "../../lib/relay/noise/record_cipher.ts";
import { prefixed } from "../../lib/relay/stream/records.ts";
import type { HarnessBundle } from "../../lib/relay/registry/registry.ts";
import { StaticKeys } from "../../lib/relay/noise/static_keys.ts";
import { ManualClock } from "../support/manual_clock.ts";
import { FakeSocket } from "./support_socket.ts";

export const primitives = await loadPrimitives();
export const executorKeys = await StaticKeys.generate(primitives);
export const harnessKeys = await StaticKeys.generate(primitives);

export const BUNDLE: HarnessBundle = {
  url: "wss://rendezvous.test/a/../b?capability=secret",
  registrationId: "registration-1",
  executor: executorKeys.public,
  authorization: "authorization-1",
};

/** A harness whose rendezvous and executor are the test. */
export class HarnessRig implements AsyncDisposable {
  readonly clock = new ManualClock();
  readonly socket = new FakeSocket();
  readonly dialled: { readonly url: string; readonly headers: unknown; readonly timeoutMs: number }[] = [];
  /** How often it was said that the socket is open. */
  opened = 0;
  readonly opening: Promise<Harness>;
  readonly #aborter = new AbortController();

  constructor(options: Partial<HarnessOptions> = {}) {
    this.opening = openHarness({
      ...{ bundle: BUNDLE, environmentId: "env-1", keys: harnessKeys, primitives, headers: {}, label: "the far end" },
      ...{ connectTimeoutMs: 10_000, handshakeTimeoutMs: 10_000, clock: this.clock, signal: this.#aborter.signal },
      dial: (url, { headers, timeoutMs }) => {
        this.dialled.push({ url, headers, timeoutMs });
        return Promise.resolve(this.socket);
      },
      opened: () => void this.opened++,
      ...options,
    });
    this.opening.catch(() => {}); // whoever waits for it hears of it
  }

  abort(reason: unknown): void {
    this.#aborter.abort(reason);
  }

  /** What the harness has greeted with. */
  async greeting(): Promise<{ readonly streamId: string; readonly message1: Uint8Array<ArrayBuffer> }> {
    const [resume, handshake] = await this.socket.frames(2);
    assert(resume?.kind === "resume" && handshake?.kind === "handshake");
    assert.equal(resume.streamId, handshake.streamId);
    return { streamId: handshake.streamId, message1: handshake.payload };
  }

  /** What an executor answers to the greeting, and the keys that it has then. */
  async answer({ payload = new Uint8Array(), keys = executorKeys } = {}): Promise<
    { readonly message2: Uint8Array<ArrayBuffer>; readonly keys: TransportKeys; readonly authorization: string }
  > {
    const { streamId, message1 } = await this.greeting();
    const context = { environmentId: "env-1", registrationId: BUNDLE.registrationId, streamId };
    using responder = await Responder.read({ primitives, own: keys, context, message1 });
    assert.deepEqual(responder.harness, harnessKeys.public);
    const authorization = new TextDecoder().decode(responder.payload);
    return { ...await responder.answer(payload), authorization };
  }

  /** An open stream, and the executor's end of it. */
  async open(): Promise<{ readonly harness: Harness; readonly executor: PlayedExecutor }> {
    const executor = await this.accept();
    return { harness: await this.opening, executor };
  }

  /** Sends the second message. */
  async accept(): Promise<PlayedExecutor> {
    const { streamId } = await this.greeting();
    const { message2, keys } = await this.answer();
    this.socket.deliver(encodeHandshake(streamId, message2));
    return new PlayedExecutor(this.socket, streamId, keys);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.abort(new Error("the test is over"));
    const harness = await this.opening.catch(() => undefined);
    harness?.stream.close();
    await this.socket.gone;
    assert.equal(this.clock.pendingTimers, 0, "timers are left");
  }
}

/** The executor's end of a stream. */
export class PlayedExecutor {
  readonly streamId: string;
  readonly #socket: FakeSocket;
  readonly #sealer: RecordCipher;
  readonly #opener: RecordCipher;

  constructor(socket: FakeSocket, streamId: string, keys: TransportKeys) {
    this.streamId = streamId;
    this.#socket = socket;
    this.#sealer = new RecordCipher(primitives, keys.send, "seal");
    this.#opener = new RecordCipher(primitives, keys.receive, "open");
    keys[Symbol.dispose]();
  }

  /** Sends a short message. */
  send(text: string): void {
    const { seq } = this.#sealer;
    const record = this.#sealer.seal(prefixed(text)) as Uint8Array<ArrayBuffer>;
    this.#socket.deliver(encodeData(this.streamId, seq, record));
  }

  /** The message in the next record that has not been read; it must be a short one. */
  async read(): Promise<string> {
    const { seq } = this.#opener;
    const frame = (await this.#socket.frames(3 + seq)).at(-1);
    assert(frame?.kind === "data" && frame.seq === seq && frame.streamId === this.streamId);
    return new TextDecoder().decode((this.#opener.open(frame.payload) as Uint8Array).subarray(4));
  }
}
