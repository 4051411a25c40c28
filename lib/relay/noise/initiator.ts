import { concatenate } from "../../concatenate.ts";
import {
  beginTranscript,
  type HandshakeContext,
  HandshakeError,
  MessageReader,
  mixPublicKeys,
  mixSkem,
  step,
} from "./handshake.ts";
import { MESSAGE1_BYTES, MESSAGE2_BYTES, SEALED_CIPHERTEXT_BYTES } from "./handshake_layout.ts";
import { KeyPairs } from "./key_pairs.ts";
import { MLKEM_CIPHERTEXT_BYTES, type PublicKeys, X25519_BYTES } from "./keys.ts";
import { MAX_HANDSHAKE_BYTES } from "../limits.ts";
import { isMlKemPublicKey } from "./mlkem_check.ts";
import type { Bytes, Primitives } from "./primitives.ts";
import type { SymmetricState, TranscriptObserver } from "./symmetric_state.ts";
import { SecretTransportKeys, type TransportKeys } from "./transport_keys.ts";
import { Unprintable } from "./unprintable.ts";

export interface InitiatorOptions {
  readonly primitives: Primitives;
  /** The harness's keys; they outlive the handshake. */
  readonly own: KeyPairs;
  /** The executor's keys, from the registry. */
  readonly executor: PublicKeys;
  readonly context: HandshakeContext;
  /** Goes to the executor as the payload of message 1. */
  readonly authorization: string;
  readonly observe?: TranscriptObserver | undefined;
}

/** The harness's end of a handshake: it makes message 1 and reads message 2. To give it up is to dispose of it. */
export class Initiator extends Unprintable implements Disposable {
  readonly message1: Bytes;
  readonly #state: SymmetricState;
  readonly #own: KeyPairs;
  readonly #ephemeral: KeyPairs;
  #finishing = false;

  private constructor(state: SymmetricState, own: KeyPairs, ephemeral: KeyPairs, message1: Bytes) {
    super();
    this.#state = state;
    this.#own = own;
    this.#ephemeral = ephemeral;
    this.message1 = message1;
  }

  /** @throws {HandshakeError} The executor's keys are no keys, or the authorization is too long for a message. */
  static async begin({ primitives, own, executor, context, authorization, observe }: InitiatorOptions) {
    const payload = new TextEncoder().encode(authorization);
    const isSound = executor.x25519.length === X25519_BYTES && isMlKemPublicKey(executor.mlkem768) &&
      MESSAGE1_BYTES + payload.length <= MAX_HANDSHAKE_BYTES;
    if (!isSound) throw new HandshakeError();
    const state = beginTranscript(primitives, context, executor, observe);
    let ephemeral: KeyPairs | undefined;
    return await step(async () => {
      const parts = [mixSkem(state, await primitives.mlkem768.encapsulate(executor.mlkem768))];
      ephemeral = await KeyPairs.generate(primitives);
      parts.push(ephemeral.public.x25519, ephemeral.public.mlkem768);
      mixPublicKeys(state, ephemeral.public);
      state.mixKey(ephemeral.x25519.agree(executor.x25519)); // es
      parts.push(state.encryptAndHash(own.public.x25519), state.encryptAndHash(own.public.mlkem768));
      state.mixKey(own.x25519.agree(executor.x25519)); // ss
      parts.push(state.encryptAndHash(payload));
      return new Initiator(state, own, ephemeral, concatenate(parts));
    }, () => {
      state[Symbol.dispose]();
      ephemeral?.[Symbol.dispose]();
    });
  }

  /**
   * Reads the answer; call it once. The handshake is over then, and wiped.
   *
   * @returns The payload, which the caller judges, and the keys, which the caller disposes of.
   * @throws {HandshakeError} Message 2 is not the executor's answer to message 1.
   */
  async finish(message2: Uint8Array): Promise<{ payload: Bytes; keys: TransportKeys }> {
    if (this.#finishing) throw new Error("a handshake is finished once");
    this.#finishing = true;
    using _wiped = this;
    if (message2.length < MESSAGE2_BYTES || message2.length > MAX_HANDSHAKE_BYTES) throw new HandshakeError();
    return await step(() => this.#read(new MessageReader(new Uint8Array(message2))));
  }

  async #read(reader: MessageReader): Promise<{ payload: Bytes; keys: TransportKeys }> {
    const ekem = reader.take(MLKEM_CIPHERTEXT_BYTES);
    const skem = reader.take(SEALED_CIPHERTEXT_BYTES);
    const executor = reader.takePublicKeys();
    if (!isMlKemPublicKey(executor.mlkem768)) throw new HandshakeError();
    const state = this.#state;
    state.mixHash(ekem);
    state.mixKey(await this.#ephemeral.mlkem768.decapsulate(ekem));
    state.mixKeyAndHash(await this.#own.mlkem768.decapsulate(state.decryptAndHash(skem)));
    mixPublicKeys(state, executor);
    state.mixKey(this.#ephemeral.x25519.agree(executor.x25519)); // ee
    state.mixKey(this.#own.x25519.agree(executor.x25519)); // se
    const payload = state.decryptAndHash(reader.takeRest());
    const [send, receive] = state.split();
    return { payload, keys: new SecretTransportKeys(send, receive) };
  }

  [Symbol.dispose](): void {
    this.#finishing = true;
    this.#state[Symbol.dispose]();
    this.#ephemeral[Symbol.dispose]();
  }
}
