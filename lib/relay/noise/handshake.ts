/** What both ends of the handshake have in common. */
import { concatenate } from "../../concatenate.ts";
import { MLKEM_PUBLIC_BYTES, type PublicKeys, X25519_BYTES } from "./keys.ts";
import { type Bytes, type Encapsulation, PrimitiveError, type Primitives } from "./primitives.ts";
import { SymmetricState, type TranscriptObserver } from "./symmetric_state.ts";

/** As it is hashed into the transcript. The registry's JSON calls the same suite by another name, with `X25519`. */
const PROTOCOL_NAME = "Noise_hybridIK_25519+MLKEM768_AESGCM_SHA256";
const PROLOGUE_LABEL = "codex-exec-server-relay-noise/v1";

/** Payload of message 2 where the registry has refused the executor's own credentials; otherwise it is empty. */
export const REJECTED_PAYLOAD: Readonly<Uint8Array> = new TextEncoder().encode(
  "codex-registry-authentication-rejected/v1",
);

/** What a handshake is for: with other values on the two ends it fails. */
export interface HandshakeContext {
  readonly environmentId: string;
  readonly registrationId: string;
  readonly streamId: string;
}

/** The handshake has failed. It is not told where: that is nobody's business, and an attacker's in particular. */
export class HandshakeError extends Error {
  override readonly name = "HandshakeError";

  constructor() {
    super("Noise handshake failed");
  }
}

/** @param responder The static keys that the initiator knows beforehand. */
export function beginTranscript(
  primitives: Primitives,
  context: HandshakeContext,
  responder: PublicKeys,
  observe: TranscriptObserver | undefined,
): SymmetricState {
  const state = new SymmetricState(primitives, PROTOCOL_NAME, observe);
  state.mixHash(prologue(context));
  mixPublicKeys(state, responder);
  return state;
}

export function mixPublicKeys(state: SymmetricState, keys: PublicKeys): void {
  state.mixHash(keys.x25519);
  state.mixHash(keys.mlkem768);
}

/** `ekem` of the end that encapsulates. @returns What it sends. */
export function mixEkem(state: SymmetricState, { ciphertext, shared }: Encapsulation): Bytes {
  try {
    state.mixHash(ciphertext);
    state.mixKey(shared);
    return ciphertext;
  } finally {
    shared.fill(0);
  }
}

/** `skem` of the end that encapsulates. @returns What it sends. */
export function mixSkem(state: SymmetricState, { ciphertext, shared }: Encapsulation): Bytes {
  try {
    const sealed = state.encryptAndHash(ciphertext);
    state.mixKeyAndHash(shared);
    return sealed;
  } finally {
    shared.fill(0);
  }
}

/** Each part behind its length, 64 bits wide, so that no two contexts have the same prologue. */
export function prologue({ environmentId, registrationId, streamId }: HandshakeContext): Bytes {
  const encoder = new TextEncoder();
  const parts = [PROLOGUE_LABEL, environmentId, registrationId, streamId].map((part) => encoder.encode(part));
  return concatenate(parts.flatMap((part) => [lengthOf(part), part]));
}

function lengthOf(part: Uint8Array): Bytes {
  const length = new Uint8Array(8);
  new DataView(length.buffer).setBigUint64(0, BigInt(part.length));
  return length;
}

/** Takes a message apart; its length has been checked before. */
export class MessageReader {
  readonly #message: Bytes;
  #at = 0;

  constructor(message: Bytes) {
    this.#message = message;
  }

  take(length: number): Bytes {
    return this.#message.subarray(this.#at, this.#at += length);
  }

  takePublicKeys(): PublicKeys {
    return { x25519: this.take(X25519_BYTES), mlkem768: this.take(MLKEM_PUBLIC_BYTES) };
  }

  takeRest(): Bytes {
    return this.take(this.#message.length - this.#at);
  }
}

/**
 * Carries out a step over what the other side has sent. Whichever primitive refuses it, the error is the same.
 *
 * @param cleanUp Called when the step fails.
 * @throws {HandshakeError}
 */
export async function step<T>(work: () => Promise<T>, cleanUp?: () => void): Promise<T> {
  try {
    return await work();
  } catch (error) {
    cleanUp?.();
    throw error instanceof PrimitiveError ? new HandshakeError() : error;
  }
}
