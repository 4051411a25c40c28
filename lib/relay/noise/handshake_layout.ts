import { MLKEM_CIPHERTEXT_BYTES, MLKEM_PUBLIC_BYTES, X25519_BYTES } from "./keys.ts";
import { MAX_AUTHORIZATION_BYTES, TAG_BYTES } from "../limits.ts";

/** A pair of public keys in clear. */
const PUBLIC_KEYS_BYTES = X25519_BYTES + MLKEM_PUBLIC_BYTES;

/** Message 1 with an empty payload: skem, e, s and the payload's tag. */
export const MESSAGE1_BYTES = MLKEM_CIPHERTEXT_BYTES + PUBLIC_KEYS_BYTES + PUBLIC_KEYS_BYTES + 3 * TAG_BYTES;
/** Message 2 with an empty payload: ekem, skem, e and the payload's tag. */
export const MESSAGE2_BYTES = MLKEM_CIPHERTEXT_BYTES + MLKEM_CIPHERTEXT_BYTES + PUBLIC_KEYS_BYTES + 2 * TAG_BYTES;

/** The longest message 1 that an executor reads: the longest authorization is in it. */
export const MAX_MESSAGE1_BYTES = MESSAGE1_BYTES + MAX_AUTHORIZATION_BYTES;

export const SEALED_X25519_BYTES = X25519_BYTES + TAG_BYTES;
export const SEALED_MLKEM_PUBLIC_BYTES = MLKEM_PUBLIC_BYTES + TAG_BYTES;
export const SEALED_CIPHERTEXT_BYTES = MLKEM_CIPHERTEXT_BYTES + TAG_BYTES;
