import { MLKEM_PUBLIC_BYTES } from "./keys.ts";

/** The modulus of ML-KEM, and how many bytes of a public key hold coefficients: 3 polynomials of 256, 12 bits each. */
const Q = 3329;
const COEFFICIENT_BYTES = 1152;

/**
 * The check of an encapsulation key that FIPS 203 asks for (7.2): its length, and that each coefficient is below the
 * modulus. Not every implementation makes it, so we make it of every key that is received.
 */
export function isMlKemPublicKey(bytes: Uint8Array): boolean {
  if (bytes.length !== MLKEM_PUBLIC_BYTES) return false;
  for (let at = 0; at < COEFFICIENT_BYTES; at += 3) {
    const middle = bytes[at + 1]!;
    if ((bytes[at]! | (middle & 0x0f) << 8) >= Q || (middle >> 4 | bytes[at + 2]! << 4) >= Q) return false;
  }
  return true;
}
