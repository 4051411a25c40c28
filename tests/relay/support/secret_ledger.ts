import assert from "node:assert/strict";
import { KeyPairs } from "../../../lib/relay/noise/key_pairs.ts";
import { loadPrimitives } from "../../../lib/relay/noise/load_primitives.ts";
import {
  anyBitSet,
  type Bytes,
  type MlKemKeyPair,
  type Primitives,
  type X25519KeyPair,
} from "../../../lib/relay/noise/primitives.ts";

const loaded = await loadPrimitives();

/** Primitives that remember what they gave out. */
export class SecretLedger {
  /** Uses of a primitive that may fail. */
  uses = 0;
  /** What AES has opened, in order. */
  readonly opened: Bytes[] = [];
  readonly primitives: Primitives;
  readonly #secrets: Bytes[] = [];
  /** Of key pairs and keys that have not been disposed of. */
  readonly #open = new Set<Disposable>();
  readonly #used: (use: number) => void;

  /** @param used Called at each use, with its number. What it throws is what the primitive throws. */
  constructor(used: (use: number) => void = () => {}) {
    this.#used = used;
    const { hash, x25519, mlkem768, aes256Gcm } = loaded;
    this.primitives = {
      hash: { ...hash, hmac: (...input) => this.#secret(hash.hmac(...input)) },
      x25519: { ...x25519, generate: () => this.#use(() => this.#opened(this.#x25519(x25519.generate()))) },
      mlkem768: {
        ...mlkem768,
        generate: () => this.#use(async () => this.#opened(this.#mlkem768(await mlkem768.generate()))),
        encapsulate: (publicKey) =>
          this.#use(async () => {
            const { ciphertext, shared } = await mlkem768.encapsulate(publicKey);
            return { ciphertext, shared: this.#secret(shared) };
          }),
      },
      aes256Gcm: {
        key: (raw) => {
          const key = aes256Gcm.key(raw);
          return this.#opened({
            seal: (...input) => this.#use(() => key.seal(...input)),
            open: (...input) =>
              this.#use(() => {
                const plaintext = key.open(...input);
                this.opened.push(plaintext);
                return plaintext;
              }),
            [Symbol.dispose]: () => key[Symbol.dispose](),
          });
        },
      },
    };
  }

  /** An end's own keys, which outlive the ledger; what they agree on is remembered. */
  watched({ x25519, mlkem768 }: KeyPairs): KeyPairs {
    return new KeyPairs(this.#x25519(x25519), this.#mlkem768(mlkem768));
  }

  assertNothingLeft(when: string): void {
    assert.equal(this.#open.size, 0, `${when}: keys have not been disposed of`);
    assert.equal(this.#secrets.filter(anyBitSet).length, 0, `${when}: secrets have not been wiped`);
  }

  #use<T>(work: () => T): T {
    this.#used(this.uses++);
    return work();
  }

  #secret(bytes: Bytes): Bytes {
    this.#secrets.push(bytes);
    return bytes;
  }

  #x25519(pair: X25519KeyPair): X25519KeyPair {
    return {
      public: pair.public,
      agree: (peer) => this.#use(() => this.#secret(pair.agree(peer))),
      [Symbol.dispose]() {},
    };
  }

  #mlkem768(pair: MlKemKeyPair): MlKemKeyPair {
    return {
      public: pair.public,
      decapsulate: (ciphertext) => this.#use(async () => this.#secret(await pair.decapsulate(ciphertext))),
      [Symbol.dispose]() {},
    };
  }

  /** It is open until it is disposed of. */
  #opened<T extends Disposable>(resource: T): T {
    this.#open.add(resource);
    const dispose = resource[Symbol.dispose].bind(resource);
    resource[Symbol.dispose] = () => {
      this.#open.delete(resource);
      dispose();
    };
    return resource;
  }
}
