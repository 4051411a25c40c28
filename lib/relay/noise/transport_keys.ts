import type { Bytes } from "./primitives.ts";
import { Secret } from "./secret.ts";
import { Unprintable } from "./unprintable.ts";

/** What a handshake ends with: a key for the records of each direction, 32 bytes each. Disposing of them wipes both. */
export interface TransportKeys extends Disposable {
  /** @throws {Error} They have been wiped. */
  readonly send: Uint8Array;
  /** @throws {Error} They have been wiped. */
  readonly receive: Uint8Array;
}

export class SecretTransportKeys extends Unprintable implements TransportKeys {
  readonly #send: Secret;
  readonly #receive: Secret;

  /** @param send,receive Belong to these keys from here on. */
  constructor(send: Bytes, receive: Bytes) {
    super();
    this.#send = new Secret(send);
    this.#receive = new Secret(receive);
  }

  get send(): Uint8Array {
    return this.#send.bytes;
  }

  get receive(): Uint8Array {
    return this.#receive.bytes;
  }

  [Symbol.dispose](): void {
    this.#send[Symbol.dispose]();
    this.#receive[Symbol.dispose]();
  }
}
