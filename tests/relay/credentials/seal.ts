import { hsalsa, xsalsa20poly1305 } from "@noble/ciphers/salsa.js";
import { x25519 } from "@noble/curves/ed25519.js";
import { blake2b } from "@noble/hashes/blake2.js";

/** The other side of `openSealedBox`. */
export function seal(text: Uint8Array, receiver: Uint8Array): Uint8Array<ArrayBuffer> {
  const secret = crypto.getRandomValues(new Uint8Array(32));
  const ephemeral = x25519.getPublicKey(secret);
  const nonce = blake2b.create({ dkLen: 24 }).update(ephemeral).update(receiver).digest();
  const sigma = new Uint32Array(new TextEncoder().encode("expand 32-byte k").buffer);
  const key = new Uint32Array(8);
  const shared = x25519.getSharedSecret(secret, receiver);
  hsalsa(sigma, new Uint32Array(shared.slice().buffer), new Uint32Array(4), key);
  const box = xsalsa20poly1305(new Uint8Array(key.buffer), nonce).encrypt(text);
  return Uint8Array.of(...ephemeral, ...box);
}
