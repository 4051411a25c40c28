import { TAG_BYTES } from "../limits.ts";
import { plainBytes } from "./plain_bytes.ts";
import { type Aes256Gcm, type AesKey, type Bytes, PrimitiveError } from "./primitives.ts";
import { Secret } from "./secret.ts";
import { Unprintable } from "./unprintable.ts";

type NodeCrypto = typeof import("node:crypto");

const NODE_NAME = "aes-256-gcm";
const NODE_OPTIONS = { authTagLength: TAG_BYTES };

/**
 * AES-256-GCM: at once by `node:crypto`, in the background by WebCrypto. On Deno 2.9.6 200 bytes take 0.014 ms at once and
 * 0.05 in the background; of 60 KiB pieces 74 MB/s are sealed at once, 243 in the background, 416 with four under way.
 *
 * @param subtle Without it nothing is done in the background.
 */
export function platformAes256Gcm(crypto: NodeCrypto, subtle: SubtleCrypto | undefined): Aes256Gcm {
  return { key: (raw) => new PlatformAesKey(crypto, subtle, raw) };
}

class PlatformAesKey extends Unprintable implements AesKey {
  readonly background?: Background;
  readonly #crypto: NodeCrypto;
  readonly #raw: Secret;

  constructor(crypto: NodeCrypto, subtle: SubtleCrypto | undefined, raw: Uint8Array) {
    super();
    this.#crypto = crypto;
    this.#raw = Secret.copyOf(raw);
    if (subtle !== undefined) this.background = new Background(subtle, this.#raw);
  }

  seal(nonce: Uint8Array, plaintext: Uint8Array, associated?: Uint8Array): Bytes {
    const cipher = this.#crypto.createCipheriv(NODE_NAME, this.#raw.bytes, nonce, NODE_OPTIONS);
    if (associated !== undefined) cipher.setAAD(associated);
    const ciphertext = new Uint8Array(plaintext.length + TAG_BYTES);
    ciphertext.set(cipher.update(plaintext));
    cipher.final();
    ciphertext.set(cipher.getAuthTag(), plaintext.length);
    return ciphertext;
  }

  open(nonce: Uint8Array, ciphertext: Uint8Array, associated?: Uint8Array): Bytes {
    const length = ciphertext.length - TAG_BYTES;
    if (length < 0) throw new PrimitiveError();
    const decipher = this.#crypto.createDecipheriv(NODE_NAME, this.#raw.bytes, nonce, NODE_OPTIONS);
    if (associated !== undefined) decipher.setAAD(associated);
    decipher.setAuthTag(ciphertext.subarray(length));
    const plaintext = plainBytes(decipher.update(ciphertext.subarray(0, length)));
    try {
      decipher.final();
    } catch {
      // What came out before the tag was looked at belongs to nobody.
      plaintext.fill(0);
      throw new PrimitiveError();
    }
    return plaintext;
  }

  [Symbol.dispose](): void {
    this.#raw[Symbol.dispose]();
    this.background?.[Symbol.dispose]();
  }
}

class Background extends Unprintable implements Disposable {
  readonly #subtle: SubtleCrypto;
  readonly #raw: Secret;
  /** Imported when it is first needed: many streams never carry anything large. */
  #key: Promise<CryptoKey> | undefined;

  constructor(subtle: SubtleCrypto, raw: Secret) {
    super();
    this.#subtle = subtle;
    this.#raw = raw;
  }

  async seal(nonce: Uint8Array, plaintext: Uint8Array): Promise<Bytes> {
    const key = await this.#imported();
    return new Uint8Array(await this.#subtle.encrypt(parameters(nonce), key, plaintext as Bytes));
  }

  async open(nonce: Uint8Array, ciphertext: Uint8Array): Promise<Bytes> {
    const key = await this.#imported();
    try {
      return new Uint8Array(await this.#subtle.decrypt(parameters(nonce), key, ciphertext as Bytes));
    } catch {
      throw new PrimitiveError();
    }
  }

  #imported(): Promise<CryptoKey> {
    return this.#key ??= this.#subtle.importKey("raw", this.#raw.bytes, "AES-GCM", false, ["encrypt", "decrypt"]);
  }

  [Symbol.dispose](): void {
    this.#key = undefined;
  }
}

function parameters(nonce: Uint8Array): AesGcmParams {
  return { name: "AES-GCM", iv: nonce as Bytes, tagLength: 8 * TAG_BYTES };
}
