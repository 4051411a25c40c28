import type { Bytes } from "./primitives.ts";
import { Unprintable } from "./unprintable.ts";

/** Secret bytes that are wiped when it is disposed of. Zeros are never taken for the secret afterwards. */
export class Secret extends Unprintable implements Disposable {
  #bytes: Bytes | undefined;

  /** @param bytes The secret's own from here on. */
  constructor(bytes: Bytes) {
    super();
    this.#bytes = bytes;
  }

  static copyOf(bytes: Uint8Array): Secret {
    return new Secret(new Uint8Array(bytes));
  }

  /**
   * The bytes themselves.
   *
   * @throws {Error} They have been wiped: the caller has gone on for too long.
   */
  get bytes(): Bytes {
    if (this.#bytes === undefined) throw new Error("the secret has been wiped");
    return this.#bytes;
  }

  [Symbol.dispose](): void {
    this.#bytes?.fill(0);
    this.#bytes = undefined;
  }
}
