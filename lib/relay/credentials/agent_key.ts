import { Unprintable } from "../noise/unprintable.ts";
import { openSealedBox } from "./sealed_box.ts";

/** The Ed25519 key of an agent, which it signs with and from which its X25519 key is made. */
export class AgentKey extends Unprintable {
  readonly #signing: CryptoKey;
  readonly #agreement: Uint8Array;

  private constructor(signing: CryptoKey, agreement: Uint8Array) {
    super();
    this.#signing = signing;
    this.#agreement = agreement;
  }

  /**
   * @param pkcs8 Base64 of the DER.
   * @throws {DOMException | SyntaxError} It is no such key.
   */
  static async fromPkcs8(pkcs8: string): Promise<AgentKey> {
    const der = Uint8Array.fromBase64(pkcs8);
    const key = await crypto.subtle.importKey("pkcs8", der, "Ed25519", true, ["sign"]);
    // The seed stands in different places in the versions of PKCS#8; the platform knows them.
    const { d = "" } = await crypto.subtle.exportKey("jwk", key);
    const seed = Uint8Array.fromBase64(d, { alphabet: "base64url" });
    const digest = new Uint8Array(await crypto.subtle.digest("SHA-512", seed));
    // X25519 clamps by itself.
    return new AgentKey(key, digest.slice(0, 32));
  }

  /** Base64 of the signature over the text. */
  async sign(text: string): Promise<string> {
    return new Uint8Array(await crypto.subtle.sign("Ed25519", this.#signing, new TextEncoder().encode(text)))
      .toBase64();
  }

  /** @returns undefined If it was not sealed for us, or was changed. */
  open(sealed: Uint8Array): Uint8Array | undefined {
    return openSealedBox(sealed, this.#agreement);
  }
}
