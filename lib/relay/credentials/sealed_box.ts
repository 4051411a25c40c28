import { hsalsa, xsalsa20poly1305 } from "@noble/ciphers/salsa.js";
import { x25519 } from "@noble/curves/ed25519.js";
import { blake2b } from "@noble/hashes/blake2.js";

const KEY_BYTES = 32;
const NONCE_BYTES = 24;
const TAG_BYTES = 16;
/** "expand 32-byte k", the constant of Salsa20, as words. */
const SIGMA = new Uint32Array(new TextEncoder().encode("expand 32-byte k").buffer);

/**
 * Opens a sealed box of NaCl (`crypto_box_seal`): the sender's ephemeral X25519 key, then a box from it to us whose nonce
 * is the BLAKE2b of both public keys.
 *
 * @param secret Our X25519 scalar, 32 bytes.
 * @returns undefined If it was not sealed for us, or was changed.
 */
export function openSealedBox(sealed: Uint8Array, secret: Uint8Array): Uint8Array | undefined {
  if (sealed.length < KEY_BYTES + TAG_BYTES) return undefined;
  const ephemeral = sealed.subarray(0, KEY_BYTES);
  const nonce = blake2b
    .create({ dkLen: NONCE_BYTES })
    .update(ephemeral)
    .update(x25519.getPublicKey(secret))
    .digest();
  try {
    const key = boxKey(x25519.getSharedSecret(secret, ephemeral));
    return xsalsa20poly1305(key, nonce).decrypt(sealed.subarray(KEY_BYTES));
  } catch {
    // A bad point or a bad tag: which one is nobody's business.
    return undefined;
  }
}

/** What NaCl makes of a shared secret before it encrypts: HSalsa20 with an input of zeros. */
function boxKey(shared: Uint8Array): Uint8Array {
  const words = new Uint32Array(KEY_BYTES / 4);
  hsalsa(SIGMA, new Uint32Array(shared.slice().buffer), new Uint32Array(4), words);
  return new Uint8Array(words.buffer);
}
