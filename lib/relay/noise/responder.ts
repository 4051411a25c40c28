import { concatenate } from "../../concatenate.ts";
import {
  beginTranscript,
  type HandshakeContext,
  HandshakeError,
  MessageReader,
  mixEkem,
  mixPublicKeys,
  mixSkem,
  step,
} from "./handshake.ts";
import {
  MAX_MESSAGE1_BYTES,
  MESSAGE1_BYTES,
  MESSAGE2_BYTES,
  SEALED_MLKEM_PUBLIC_BYTES,
  SEALED_X25519_BYTES,
} from "./handshake_layout.ts";
import { KeyPairs } from "./key_pairs.ts";
import { MLKEM_CIPHERTEXT_BYTES, type PublicKeys } from "./keys.ts";
import { MAX_HANDSHAKE_BYTES } from "../limits.ts";
import { isMlKemPublicKey } from "./mlkem_check.ts";
import type { Bytes, Primitives } from "./primitives.ts";
import type { SymmetricState, TranscriptObserver } from "./symmetric_state.ts";
import { SecretTransportKeys, type TransportKeys } from "./transport_keys.ts";
import { Unprintable } from "./unprintable.ts";

export interface ResponderOptions {
  readonly primitives: Primitives;
  /** The executor's keys; they outlive the handshake. */
  readonly own: KeyPairs;
  readonly context: HandshakeContext;
  readonly message1: Uint8Array;
  readonly observe?: TranscriptObserver | undefined;
}

/** What message 1 has told. */
interface Greeting {
  /** The harness's static keys. */
  readonly harness: PublicKeys;
  /** The harness's ephemeral keys. */
  readonly ephemeral: PublicKeys;
  readonly payload: Bytes;
}

/** The executor's end of a handshake: it reads message 1 and makes message 2. To give it up is to dispose of it. */
export class Responder extends Unprintable implements Disposable {
  readonly #primitives: Primitives;
  readonly #state: SymmetricState;
  readonly #greeting: Greeting;
  #answering = false;

  private constructor(primitives: Primitives, state: SymmetricState, greeting: Greeting) {
    super();
    this.#primitives = primitives;
    this.#state = state;
    this.#greeting = greeting;
  }

  /**
   * Reads message 1.
   *
   * @throws {HandshakeError} It was not made for these keys and this context, or its payload is longer than any
   * authorization.
   */
  static async read({ primitives, own, context, message1, observe }: ResponderOptions): Promise<Responder> {
    if (message1.length < MESSAGE1_BYTES || message1.length > MAX_MESSAGE1_BYTES) throw new HandshakeError();
    const reader = new MessageReader(new Uint8Array(message1));
    const skem = reader.take(MLKEM_CIPHERTEXT_BYTES);
    const ephemeral = reader.takePublicKeys();
    if (!isMlKemPublicKey(ephemeral.mlkem768)) throw new HandshakeError();
    const state = beginTranscript(primitives, context, own.public, observe);
    return await step(async () => {
      const ciphertext = state.decryptAndHash(skem);
      state.mixKeyAndHash(await own.mlkem768.decapsulate(ciphertext));
      mixPublicKeys(state, ephemeral);
      state.mixKey(own.x25519.agree(ephemeral.x25519)); // es
      const x25519 = state.decryptAndHash(reader.take(SEALED_X25519_BYTES));
      const mlkem768 = state.decryptAndHash(reader.take(SEALED_MLKEM_PUBLIC_BYTES));
      if (!isMlKemPublicKey(mlkem768)) throw new HandshakeError();
      state.mixKey(own.x25519.agree(x25519)); // ss
      const payload = state.decryptAndHash(reader.takeRest());
      return new Responder(primitives, state, { harness: { x25519, mlkem768 }, ephemeral, payload });
    }, () => state[Symbol.dispose]());
  }

  /** The harness's static keys. Nobody but the registry says whether they are welcome. */
  get harness(): PublicKeys {
    return this.#greeting.harness;
  }

  /** The payload of message 1: the harness's authorization, to be shown to the registry and to nobody else. */
  get payload(): Bytes {
    return this.#greeting.payload;
  }

  /**
   * Makes message 2; call it once, and only when the registry has confirmed the harness. The handshake is over then, and
   * wiped.
   *
   * @param payload Nothing, or {@linkcode REJECTED_PAYLOAD}.
   * @returns The message, and the keys, which the caller disposes of.
   */
  async answer(payload: Readonly<Uint8Array>): Promise<{ message2: Bytes; keys: TransportKeys }> {
    if (this.#answering) throw new Error("a handshake is answered once");
    if (MESSAGE2_BYTES + payload.length > MAX_HANDSHAKE_BYTES) throw new RangeError("the payload is too long");
    this.#answering = true;
    using _wiped = this;
    return await step(() => this.#write(payload));
  }

  async #write(payload: Readonly<Uint8Array>): Promise<{ message2: Bytes; keys: TransportKeys }> {
    const { harness, ephemeral: theirs } = this.#greeting;
    const { mlkem768 } = this.#primitives;
    const state = this.#state;
    const ekem = mixEkem(state, await mlkem768.encapsulate(theirs.mlkem768));
    const skem = mixSkem(state, await mlkem768.encapsulate(harness.mlkem768));
    using ours = await KeyPairs.generate(this.#primitives);
    mixPublicKeys(state, ours.public);
    state.mixKey(ours.x25519.agree(theirs.x25519)); // ee
    state.mixKey(ours.x25519.agree(harness.x25519)); // se
    const sealedPayload = state.encryptAndHash(payload);
    const [receive, send] = state.split();
    const parts = [ekem, skem, ours.public.x25519, ours.public.mlkem768, sealedPayload];
    return { message2: concatenate(parts), keys: new SecretTransportKeys(send, receive) };
  }

  [Symbol.dispose](): void {
    this.#answering = true;
    this.#state[Symbol.dispose]();
  }
}
