import type { PublicKeys } from "./keys.ts";
import type { MlKemKeyPair, Primitives, X25519KeyPair } from "./primitives.ts";
import { Unprintable } from "./unprintable.ts";

/** What the handshake calls one key pair: one of X25519 and one of ML-KEM-768. They live in memory only. */
export class KeyPairs extends Unprintable implements Disposable {
  readonly public: PublicKeys;
  readonly #x25519: X25519KeyPair;
  readonly #mlkem768: MlKemKeyPair;

  constructor(x25519: X25519KeyPair, mlkem768: MlKemKeyPair) {
    super();
    this.#x25519 = x25519;
    this.#mlkem768 = mlkem768;
    this.public = { x25519: x25519.public, mlkem768: mlkem768.public };
  }

  static async generate({ x25519, mlkem768 }: Primitives): Promise<KeyPairs> {
    return await both(x25519.generate(), () => mlkem768.generate());
  }

  /**
   * The keys of known secrets, for tests and recorded sessions.
   *
   * @param secrets An X25519 scalar of 32 bytes, and an ML-KEM seed of 64.
   */
  static async fromSecrets(
    { x25519, mlkem768 }: Primitives,
    secrets: { readonly x25519: Uint8Array; readonly mlkem768: Uint8Array },
  ): Promise<KeyPairs> {
    return await both(x25519.fromSecret(secrets.x25519), () => mlkem768.fromSeed(secrets.mlkem768));
  }

  get x25519(): X25519KeyPair {
    return this.#x25519;
  }

  get mlkem768(): MlKemKeyPair {
    return this.#mlkem768;
  }

  /** Wipes the secrets; handshakes fail from then on. */
  [Symbol.dispose](): void {
    this.#x25519[Symbol.dispose]();
    this.#mlkem768[Symbol.dispose]();
  }
}

/** One pair is not left alone with its secret when there is no other. */
async function both(x25519: X25519KeyPair, mlkem768: () => Promise<MlKemKeyPair>): Promise<KeyPairs> {
  try {
    return new KeyPairs(x25519, await mlkem768());
  } catch (error) {
    x25519[Symbol.dispose]();
    throw error;
  }
}
