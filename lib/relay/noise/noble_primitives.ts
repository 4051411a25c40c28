import { gcm } from "@noble/ciphers/aes.js";
import { x25519 } from "@noble/curves/ed25519.js";
import { ml_kem768 } from "@noble/post-quantum/ml-kem.js";
import {
  type Aes256Gcm,
  type AesKey,
  anyBitSet,
  type Bytes,
  type MlKem768,
  type MlKemKeyPair,
  PrimitiveError,
  randomBytes,
  type X25519,
  type X25519KeyPair,
} from "./primitives.ts";
import { MLKEM_SEED_BYTES, X25519_BYTES } from "./keys.ts";
import { plainBytes } from "./plain_bytes.ts";
import { Secret } from "./secret.ts";
import { Unprintable } from "./unprintable.ts";

/** The message that an ML-KEM ciphertext is made of, in bytes. */
const MLKEM_MESSAGE_BYTES = 32;

/** @param random Where secrets come from; a test that wants the same bytes each time passes its own. */
export function nobleX25519(random = randomBytes): X25519 {
  return {
    generate: () => {
      const secret = random(X25519_BYTES);
      try {
        return new NobleX25519KeyPair(secret);
      } finally {
        secret.fill(0);
      }
    },
    fromSecret: (secret) => new NobleX25519KeyPair(secret),
  };
}

class NobleX25519KeyPair extends Unprintable implements X25519KeyPair {
  readonly public: Bytes;
  readonly #secret: Secret;

  constructor(secret: Uint8Array) {
    super();
    this.#secret = Secret.copyOf(secret);
    this.public = x25519.getPublicKey(this.#secret.bytes);
  }

  agree(peer: Uint8Array): Bytes {
    const secret = this.#secret.bytes;
    const shared = refusing(() => x25519.getSharedSecret(secret, peer));
    if (!anyBitSet(shared)) throw new PrimitiveError();
    return shared;
  }

  [Symbol.dispose](): void {
    this.#secret[Symbol.dispose]();
  }
}

/** @param random As in {@linkcode nobleX25519}: 64 bytes for each key pair, 32 for each encapsulation. */
export function nobleMlKem768(random = randomBytes): MlKem768 {
  return {
    // deno-lint-ignore require-await
    async generate() {
      const seed = random(MLKEM_SEED_BYTES);
      try {
        return new NobleMlKemKeyPair(seed);
      } finally {
        seed.fill(0);
      }
    },
    // deno-lint-ignore require-await
    fromSeed: async (seed) => new NobleMlKemKeyPair(seed),
    // deno-lint-ignore require-await
    async encapsulate(publicKey) {
      const message = random(MLKEM_MESSAGE_BYTES);
      try {
        const { cipherText, sharedSecret } = refusing(() => ml_kem768.encapsulate(publicKey, message));
        return { ciphertext: cipherText, shared: plainBytes(sharedSecret) };
      } finally {
        message.fill(0);
      }
    },
  };
}

class NobleMlKemKeyPair extends Unprintable implements MlKemKeyPair {
  readonly public: Bytes;
  readonly #secret: Secret;

  constructor(seed: Uint8Array) {
    super();
    const { publicKey, secretKey } = ml_kem768.keygen(seed);
    this.public = publicKey;
    this.#secret = new Secret(plainBytes(secretKey));
  }

  // deno-lint-ignore require-await
  async decapsulate(ciphertext: Uint8Array): Promise<Bytes> {
    const secret = this.#secret.bytes;
    return plainBytes(refusing(() => ml_kem768.decapsulate(ciphertext, secret)));
  }

  [Symbol.dispose](): void {
    this.#secret[Symbol.dispose]();
  }
}

export const nobleAes256Gcm: Aes256Gcm = { key: (raw) => new NobleAesKey(raw) };

class NobleAesKey extends Unprintable implements AesKey {
  readonly #raw: Secret;

  constructor(raw: Uint8Array) {
    super();
    this.#raw = Secret.copyOf(raw);
  }

  seal(nonce: Uint8Array, plaintext: Uint8Array, associated?: Uint8Array): Bytes {
    return gcm(this.#raw.bytes, nonce, associated).encrypt(plaintext);
  }

  open(nonce: Uint8Array, ciphertext: Uint8Array, associated?: Uint8Array): Bytes {
    const raw = this.#raw.bytes;
    return refusing(() => gcm(raw, nonce, associated).decrypt(ciphertext));
  }

  [Symbol.dispose](): void {
    this.#raw[Symbol.dispose]();
  }
}

/** The package's own errors say which check failed; ours do not. */
function refusing(work: () => Uint8Array): Bytes;
function refusing<T>(work: () => T): T;
function refusing<T>(work: () => T): T {
  try {
    return work();
  } catch {
    throw new PrimitiveError();
  }
}
