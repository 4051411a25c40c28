import { type Bytes, type MlKem768, type MlKemKeyPair, PrimitiveError } from "./primitives.ts";
import { Unprintable } from "./unprintable.ts";

const ALGORITHM = { name: "ML-KEM-768" };

/** What the types do not know yet of WebCrypto (https://wicg.github.io/webcrypto-modern-algos/). */
interface KemCrypto {
  generateKey(algorithm: typeof ALGORITHM, extractable: boolean, usages: readonly string[]): Promise<CryptoKeyPair>;
  importKey(
    format: "raw-public" | "raw-seed",
    key: Uint8Array,
    algorithm: typeof ALGORITHM,
    extractable: boolean,
    usages: readonly string[],
  ): Promise<CryptoKey>;
  exportKey(format: "raw-public", key: CryptoKey): Promise<ArrayBuffer>;
  getPublicKey(privateKey: CryptoKey, usages: readonly string[]): Promise<CryptoKey>;
  encapsulateBits(
    algorithm: typeof ALGORITHM,
    publicKey: CryptoKey,
  ): Promise<{ ciphertext: ArrayBuffer; sharedKey: ArrayBuffer }>;
  decapsulateBits(
    algorithm: typeof ALGORITHM,
    privateKey: CryptoKey,
    ciphertext: Uint8Array,
  ): Promise<ArrayBuffer>;
}

/**
 * ML-KEM-768 of WebCrypto. On Deno 2.9.6 a key pair takes 0.17 ms, an encapsulation 0.14, a decapsulation 0.08; with @noble
 * 0.5, 0.75 and 0.8. It draws its random bytes itself.
 */
export function platformMlKem768(subtle: SubtleCrypto): MlKem768 {
  const kem = subtle as unknown as KemCrypto;
  return {
    async generate() {
      const { publicKey, privateKey } = await kem.generateKey(ALGORITHM, false, ["encapsulateBits", "decapsulateBits"]);
      return new PlatformMlKemKeyPair(kem, privateKey, await exported(kem, publicKey));
    },
    async fromSeed(seed) {
      const privateKey = await kem.importKey("raw-seed", seed, ALGORITHM, false, ["decapsulateBits"]);
      const publicKey = await kem.getPublicKey(privateKey, ["encapsulateBits"]);
      return new PlatformMlKemKeyPair(kem, privateKey, await exported(kem, publicKey));
    },
    async encapsulate(bytes) {
      try {
        const publicKey = await kem.importKey("raw-public", bytes, ALGORITHM, true, ["encapsulateBits"]);
        const { ciphertext, sharedKey } = await kem.encapsulateBits(ALGORITHM, publicKey);
        return { ciphertext: new Uint8Array(ciphertext), shared: new Uint8Array(sharedKey) };
      } catch {
        throw new PrimitiveError();
      }
    },
  };
}

async function exported(kem: KemCrypto, publicKey: CryptoKey): Promise<Bytes> {
  return new Uint8Array(await kem.exportKey("raw-public", publicKey));
}

/** The secret lives in a key of the platform that cannot be exported, nor wiped: only let go. */
class PlatformMlKemKeyPair extends Unprintable implements MlKemKeyPair {
  readonly public: Bytes;
  readonly #kem: KemCrypto;
  #privateKey: CryptoKey | undefined;

  constructor(kem: KemCrypto, privateKey: CryptoKey, publicKey: Bytes) {
    super();
    this.public = publicKey;
    this.#kem = kem;
    this.#privateKey = privateKey;
  }

  async decapsulate(ciphertext: Uint8Array): Promise<Bytes> {
    if (this.#privateKey === undefined) throw new Error("the secret has been wiped");
    try {
      return new Uint8Array(await this.#kem.decapsulateBits(ALGORITHM, this.#privateKey, ciphertext));
    } catch {
      throw new PrimitiveError();
    }
  }

  [Symbol.dispose](): void {
    this.#privateKey = undefined;
  }
}
