/** The cryptography that the relay is made of, as it is needed: from the platform, or from @noble where that lacks it. */

/** Plain bytes with memory of their own, never a view into a shared pool: they can be wiped. */
export type Bytes = Uint8Array<ArrayBuffer>;

export interface Primitives {
  readonly hash: Hash;
  readonly x25519: X25519;
  readonly mlkem768: MlKem768;
  readonly aes256Gcm: Aes256Gcm;
}

/** SHA-256: 32 bytes come out. */
export interface Hash {
  sha256(...parts: readonly Uint8Array[]): Bytes;
  hmac(key: Uint8Array, ...parts: readonly Uint8Array[]): Bytes;
}

export interface X25519 {
  generate(): X25519KeyPair;
  /** @param secret 32 bytes, before clamping; copied. */
  fromSecret(secret: Uint8Array): X25519KeyPair;
}

export interface X25519KeyPair extends Disposable {
  /** 32 bytes. */
  readonly public: Bytes;
  /**
   * @param peer 32 bytes.
   * @throws {PrimitiveError} The shared secret would be all zeros: the peer's key has a small order.
   */
  agree(peer: Uint8Array): Bytes;
}

/** Asynchronous, because the platform's is. */
export interface MlKem768 {
  generate(): Promise<MlKemKeyPair>;
  /** @param seed `d ‖ z`, 64 bytes; copied. */
  fromSeed(seed: Uint8Array): Promise<MlKemKeyPair>;
  /**
   * @param publicKey 1184 bytes.
   * @throws {PrimitiveError} They are no public key.
   */
  encapsulate(publicKey: Uint8Array): Promise<Encapsulation>;
}

export interface Encapsulation {
  /** 1088 bytes. */
  readonly ciphertext: Bytes;
  /** 32 bytes, the taker's to wipe. */
  readonly shared: Bytes;
}

export interface MlKemKeyPair extends Disposable {
  /** 1184 bytes. */
  readonly public: Bytes;
  /**
   * @param ciphertext 1088 bytes. A forged one gives a secret that nobody knows, not an error (implicit rejection).
   * @throws {PrimitiveError} It has another length.
   */
  decapsulate(ciphertext: Uint8Array): Promise<Bytes>;
}

export interface Aes256Gcm {
  /** @param raw 32 bytes; copied. */
  key(raw: Uint8Array): AesKey;
}

/** Nonces have 12 bytes, the tag 16; it stands behind the ciphertext. */
export interface AesKey extends Disposable {
  seal(nonce: Uint8Array, plaintext: Uint8Array, associated?: Uint8Array): Bytes;
  /** @throws {PrimitiveError} The tag is not right. */
  open(nonce: Uint8Array, ciphertext: Uint8Array, associated?: Uint8Array): Bytes;
  /** The same on another thread, where there is one. The input must not be changed until the result is there. */
  readonly background?: {
    seal(nonce: Uint8Array, plaintext: Uint8Array): Promise<Bytes>;
    /** Rejects with a {@linkcode PrimitiveError} if the tag is not right. */
    open(nonce: Uint8Array, ciphertext: Uint8Array): Promise<Bytes>;
  };
}

/** An input from the other side does not have what the primitive needs; it is not told what. */
export class PrimitiveError extends Error {
  override readonly name = "PrimitiveError";

  constructor() {
    super("refused by a cryptographic primitive");
  }
}

export type RandomBytes = (length: number) => Bytes;

/** Random bytes of the platform. */
export function randomBytes(length: number): Bytes {
  return crypto.getRandomValues(new Uint8Array(length));
}

/** @returns Whether any bit is set, in a time that depends on the length only. */
export function anyBitSet(bytes: Uint8Array): boolean {
  let bits = 0;
  for (const byte of bytes) bits |= byte;
  return bits !== 0;
}
