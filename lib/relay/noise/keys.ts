/** The public keys of an end of the relay, an X25519 and an ML-KEM-768 one. Nobody but the owner writes to the arrays. */
export interface PublicKeys {
  /** 32 bytes. */
  readonly x25519: Uint8Array<ArrayBuffer>;
  /** 1184 bytes. */
  readonly mlkem768: Uint8Array<ArrayBuffer>;
}

export const X25519_BYTES = 32;
export const MLKEM_PUBLIC_BYTES = 1184;
export const MLKEM_CIPHERTEXT_BYTES = 1088;
/** The seed `d ‖ z` that an ML-KEM key pair is made of (FIPS 203). */
export const MLKEM_SEED_BYTES = 64;
