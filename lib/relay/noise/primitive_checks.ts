/**
 * Whether primitives are there and calculate what they should. Each is asked for a known answer: a runtime that lacks one
 * throws, one that has something else under the name gives another answer.
 */
import { MLKEM_CIPHERTEXT_BYTES, MLKEM_SEED_BYTES } from "./keys.ts";
import type { Aes256Gcm, MlKem768, X25519 } from "./primitives.ts";

/** The public key of the secret 0, 1 … 31, and the secret that the two agree on. */
const X25519_PUBLIC = "8f40c5adb68f25624ae5b214ea767a6ec94d829d3d7b5e1ad1ba6f3e2138285f";
const X25519_AGREED = "df6baf6f6a43b9744fc5ef9dea1122782f9f696dc4a0d15c03c1787ee6d15e64";
/** What ML-KEM-768 with the seed 0, 1 … 63 makes of a ciphertext of zeros: nobody has encapsulated that. */
const MLKEM_REJECTED = "c8fbeddafdacef2ffeb8b354ea644f11b5c150f3e2c4a74ce38abba8f854ae16";
/** 16 zeros, sealed with the key 0, 1 … 31 and the nonce 0, 1 … 11. */
const AES_SEALED = "4702d61bc5e5c21b8d41978bb1e9786dff3989508f158307b8f1b756a169d9d1";

export function worksX25519(x25519: X25519): boolean {
  try {
    using pair = x25519.fromSecret(counting(32));
    using other = x25519.generate();
    return hex(pair.public) === X25519_PUBLIC && hex(pair.agree(pair.public)) === X25519_AGREED &&
      hex(pair.agree(other.public)) === hex(other.agree(pair.public));
  } catch {
    return false;
  }
}

export async function worksMlKem768(mlkem768: MlKem768): Promise<boolean> {
  try {
    using pair = await mlkem768.fromSeed(counting(MLKEM_SEED_BYTES));
    using other = await mlkem768.generate();
    const { ciphertext, shared } = await mlkem768.encapsulate(other.public);
    return hex(await pair.decapsulate(new Uint8Array(MLKEM_CIPHERTEXT_BYTES))) === MLKEM_REJECTED &&
      hex(await other.decapsulate(ciphertext)) === hex(shared);
  } catch {
    return false;
  }
}

export async function worksAes256Gcm(aes256Gcm: Aes256Gcm): Promise<boolean> {
  try {
    using key = aes256Gcm.key(counting(32));
    const nonce = counting(12);
    const plaintext = new Uint8Array(16);
    const sealed = key.seal(nonce, plaintext);
    if (hex(sealed) !== AES_SEALED || hex(key.open(nonce, sealed)) !== hex(plaintext)) return false;
    const { background } = key;
    if (background === undefined) return true;
    return hex(await background.seal(nonce, plaintext)) === AES_SEALED &&
      hex(await background.open(nonce, sealed)) === hex(plaintext);
  } catch {
    return false;
  }
}

/** 0, 1, 2 … */
function counting(length: number): Uint8Array<ArrayBuffer> {
  return Uint8Array.from({ length }, (_, at) => at);
}

function hex(bytes: Uint8Array): string {
  return Array.from(bytes, (byte) => byte.toString(16).padStart(2, "0")).join("");
}
