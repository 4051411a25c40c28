/** The recorded handshakes, and primitives that repeat them. */
import * as node from "node:crypto";
import { StaticKeys } from "../../../lib/relay/noise/static_keys.ts";
import type { PublicKeys } from "../../../lib/relay/noise/keys.ts";
import type { HandshakeContext } from "../../../lib/relay/noise/noise.ts";
import { nobleAes256Gcm, nobleMlKem768, nobleX25519 } from "../../../lib/relay/noise/noble_primitives.ts";
import { platformHash } from "../../../lib/relay/noise/platform_hash.ts";
import type { Primitives, RandomBytes } from "../../../lib/relay/noise/primitives.ts";
import { fromHex } from "./load.ts";

export interface Step {
  readonly op: string;
  readonly h: string;
  readonly ck: string;
}

export interface StaticVector {
  readonly x25519_secret_hex: string;
  readonly mlkem768_seed_d_z_hex: string;
  readonly x25519_public_hex: string;
  readonly mlkem768_public_hex: string;
  readonly public_key_json: Record<string, string>;
}

export interface InitiatorEphemeral {
  readonly e_x25519_secret_hex: string;
  readonly e_mlkem768_seed_d_z_hex: string;
  readonly skem_encapsulation_m_hex: string;
}

export interface ResponderEphemeral extends InitiatorEphemeral {
  readonly ekem_encapsulation_m_hex: string;
}

export interface Split {
  readonly initiator_to_responder_key_hex: string;
  readonly responder_to_initiator_key_hex: string;
}

export interface ContextVector {
  readonly environment_id: string;
  readonly executor_registration_id: string;
  readonly stream_id: string;
}

export interface FrameVector {
  readonly from: "harness" | "executor";
  readonly hex: string;
  readonly decoded: { readonly data?: { readonly seq: number; readonly payload_len: number } };
  readonly record?: { readonly plaintext_len: number; readonly plaintext_hex?: string };
}

export interface FixedVector extends ContextVector {
  readonly prologue_hex: string;
  readonly initiator_static: StaticVector;
  readonly responder_static: StaticVector;
  readonly initiator_ephemeral: InitiatorEphemeral;
  readonly responder_ephemeral: ResponderEphemeral;
  readonly message1: { readonly payload_utf8: string; readonly hex: string };
  readonly message2: { readonly hex: string };
  readonly initiator_transcript_steps: readonly Step[];
  readonly responder_transcript_steps: readonly Step[];
  readonly split: Split;
  readonly records: readonly {
    readonly direction: "initiator->responder" | "responder->initiator";
    readonly nonce: number;
    readonly plaintext_hex: string;
    readonly ciphertext_hex: string;
  }[];
}

/** A session with the reference executor; one that was denied has no second message and no keys. */
export interface ExecutorSession extends ContextVector {
  readonly harness_static: StaticVector;
  readonly harness_ephemeral: InitiatorEphemeral;
  readonly executor_static_public: { readonly x25519_public_hex: string; readonly mlkem768_public_hex: string };
  readonly message1: { readonly payload_utf8: string; readonly hex: string };
  readonly message2?: { readonly hex: string; readonly payload_utf8: string };
  readonly transcript_steps?: readonly Step[];
  readonly split?: Split;
  readonly frames: readonly FrameVector[];
}

/** A session with the reference harness. */
export interface HarnessSession extends ContextVector {
  readonly executor_static: StaticVector;
  readonly executor_ephemeral: ResponderEphemeral;
  readonly harness_static_public: { readonly public_key_json: Record<string, string> };
  readonly message1: { readonly payload_utf8: string; readonly hex: string };
  readonly message2: { readonly hex: string };
  readonly transcript_steps: readonly Step[];
  readonly split: Split;
  readonly frames: readonly FrameVector[];
}

export const EXECUTOR_SESSIONS = [
  "real-executor-session.json",
  "real-executor-segmented.json",
  "real-executor-rejected-401.json",
  "real-executor-denied.json",
] as const;

export function contextOf(vector: ContextVector): HandshakeContext {
  return {
    environmentId: vector.environment_id,
    registrationId: vector.executor_registration_id,
    streamId: vector.stream_id,
  };
}

export function publicKeysOf(vector: { x25519_public_hex: string; mlkem768_public_hex: string }): PublicKeys {
  return { x25519: fromHex(vector.x25519_public_hex), mlkem768: fromHex(vector.mlkem768_public_hex) };
}

export function staticKeysOf(primitives: Primitives, vector: StaticVector): Promise<StaticKeys> {
  return StaticKeys.fromSecrets(primitives, {
    x25519: fromHex(vector.x25519_secret_hex),
    mlkem768: fromHex(vector.mlkem768_seed_d_z_hex),
  });
}

/** Everything that @noble has, with the random bytes given. */
export function noblePrimitives(random?: RandomBytes): Primitives {
  return {
    hash: platformHash(node),
    x25519: nobleX25519(random),
    mlkem768: nobleMlKem768(random),
    aes256Gcm: nobleAes256Gcm,
  };
}

/** The random bytes of an initiator, in the order in which it draws them. */
export function initiatorRandom(vector: InitiatorEphemeral): RandomBytes {
  return scripted(vector.skem_encapsulation_m_hex, vector.e_x25519_secret_hex, vector.e_mlkem768_seed_d_z_hex);
}

/** The random bytes of a responder, in the order in which it draws them. */
export function responderRandom(vector: ResponderEphemeral): RandomBytes {
  return scripted(
    vector.ekem_encapsulation_m_hex,
    vector.skem_encapsulation_m_hex,
    vector.e_x25519_secret_hex,
    vector.e_mlkem768_seed_d_z_hex,
  );
}

function scripted(...pieces: readonly string[]): RandomBytes {
  const left = pieces.map(fromHex);
  return (length) => {
    const piece = left.shift();
    if (piece?.length !== length) throw new Error(`${length} random bytes are not what comes next`);
    return piece;
  };
}
