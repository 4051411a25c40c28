import { nonceOf } from "./nonce.ts";
import type { AesKey, Bytes, Primitives } from "./primitives.ts";
import { Unprintable } from "./unprintable.ts";

/**
 * Hears of the transcript after every step: the hash and the chaining key, copies of them. For the tests of the handshake
 * only: the chaining key is secret.
 */
export type TranscriptObserver = (hash: Bytes, chainingKey: Bytes) => void;

const NOTHING = new Uint8Array(0);

/** The symmetric state of a Noise handshake (section 5.2 of its specification), with SHA-256 and AES-256-GCM. */
export class SymmetricState extends Unprintable implements Disposable {
  readonly #primitives: Primitives;
  readonly #observe: TranscriptObserver | undefined;
  #hash: Bytes;
  #chainingKey: Bytes;
  #key: AesKey | undefined;
  /** Messages under `#key`. A handshake has a few, so that this is far from any limit. */
  #count = 0;
  #ended = false;

  /** @param name Of the protocol; longer than a hash, so that it is hashed. */
  constructor(primitives: Primitives, name: string, observe?: TranscriptObserver) {
    super();
    this.#primitives = primitives;
    this.#observe = observe;
    this.#hash = primitives.hash.sha256(new TextEncoder().encode(name));
    this.#chainingKey = this.#hash.slice();
    this.#observed();
  }

  mixHash(data: Uint8Array): void {
    this.#mixHash(data);
    this.#observed();
  }

  /** @param secret Wiped. */
  mixKey(secret: Bytes): void {
    const [chainingKey, key] = this.#derive(secret, 2);
    this.#replaceChainingKey(chainingKey!);
    this.#replaceKey(key!);
    this.#observed();
  }

  /** @param secret Wiped. */
  mixKeyAndHash(secret: Bytes): void {
    const [chainingKey, mixed, key] = this.#derive(secret, 3);
    this.#replaceChainingKey(chainingKey!);
    this.#mixHash(mixed!);
    mixed!.fill(0);
    this.#observed();
    this.#replaceKey(key!);
    this.#observed();
  }

  /** @returns The ciphertext; before there is a key, a copy of the plaintext. */
  encryptAndHash(plaintext: Uint8Array): Bytes {
    this.#refuseEnded();
    const ciphertext = this.#key?.seal(nonceOf(this.#count++), plaintext, this.#hash) ?? new Uint8Array(plaintext);
    this.mixHash(ciphertext);
    return ciphertext;
  }

  /** @throws {PrimitiveError} The tag is not right. */
  decryptAndHash(ciphertext: Uint8Array): Bytes {
    this.#refuseEnded();
    const plaintext = this.#key?.open(nonceOf(this.#count++), ciphertext, this.#hash) ?? new Uint8Array(ciphertext);
    this.mixHash(ciphertext);
    return plaintext;
  }

  /** The keys of the two directions, the initiator's first. */
  split(): [Bytes, Bytes] {
    const [first, second] = this.#derive(new Uint8Array(0), 2);
    return [first!, second!];
  }

  /** Wipes it; every other use throws from then on, so that nothing is ever mixed into zeros or leaves in clear. */
  [Symbol.dispose](): void {
    this.#ended = true;
    this.#hash.fill(0);
    this.#chainingKey.fill(0);
    this.#key?.[Symbol.dispose]();
    this.#key = undefined;
  }

  #refuseEnded(): void {
    if (this.#ended) throw new Error("the handshake is over");
  }

  #mixHash(data: Uint8Array): void {
    this.#refuseEnded();
    this.#hash = this.#primitives.hash.sha256(this.#hash, data);
  }

  #replaceChainingKey(chainingKey: Bytes): void {
    this.#chainingKey.fill(0);
    this.#chainingKey = chainingKey;
  }

  #replaceKey(key: Bytes): void {
    this.#key?.[Symbol.dispose]();
    this.#key = this.#primitives.aes256Gcm.key(key);
    this.#count = 0;
    key.fill(0);
  }

  /** Noise's HKDF. Wipes what goes in, whether it can be used or not. */
  #derive(secret: Bytes, outputs: 2 | 3): Bytes[] {
    try {
      this.#refuseEnded();
      return this.#hkdf(secret, outputs);
    } finally {
      secret.fill(0);
    }
  }

  #hkdf(secret: Bytes, outputs: 2 | 3): Bytes[] {
    const { hash } = this.#primitives;
    const temporary = hash.hmac(this.#chainingKey, secret);
    const derived: Bytes[] = [];
    let last: Uint8Array = NOTHING;
    for (let number = 1; number <= outputs; number++) {
      derived.push(last = hash.hmac(temporary, last, Uint8Array.of(number)));
    }
    temporary.fill(0);
    return derived;
  }

  #observed(): void {
    this.#observe?.(this.#hash.slice(), this.#chainingKey.slice());
  }
}
