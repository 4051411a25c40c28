/** What is left of a handshake's secrets, wherever it ends: each primitive in turn fails, or is in use when it is given up. */
import assert from "node:assert/strict";
import { KeyPairs } from "../../../lib/relay/noise/key_pairs.ts";
import {
  anyBitSet,
  type Bytes,
  type MlKemKeyPair,
  PrimitiveError,
  type Primitives,
  type X25519KeyPair,
} from "../../../lib/relay/noise/primitives.ts";
import { begin, executor, harness, NOTHING, platform, read } from "../noise_ends.ts";

/** Primitives that remember what they gave out. */
class Ledger {
  /** Uses of a primitive that may fail. */
  uses = 0;
  readonly primitives: Primitives;
  readonly harness: KeyPairs;
  readonly executor: KeyPairs;
  readonly #secrets: Bytes[] = [];
  /** Of key pairs and keys that have not been disposed of. */
  readonly #open = new Set<Disposable>();
  readonly #used: (use: number) => void;

  /** @param used Called at each use, with its number. What it throws is what the primitive throws. */
  constructor(used: (use: number) => void = () => {}) {
    this.#used = used;
    const { hash, x25519, mlkem768, aes256Gcm } = platform;
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
            open: (...input) => this.#use(() => key.open(...input)),
            [Symbol.dispose]: () => key[Symbol.dispose](),
          });
        },
      },
    };
    this.harness = new KeyPairs(this.#x25519(harness.x25519), this.#mlkem768(harness.mlkem768));
    this.executor = new KeyPairs(this.#x25519(executor.x25519), this.#mlkem768(executor.mlkem768));
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

/** A whole handshake; each end is given to `begun` as soon as it is there. */
async function shakeHands({ primitives, harness, executor }: Ledger, begun: (end: Disposable) => void): Promise<void> {
  using initiator = await begin({ primitives, own: harness, executor: executor.public });
  begun(initiator);
  using responder = await read(initiator.message1, { primitives, own: executor });
  begun(responder);
  const { message2, keys: executorKeys } = await responder.answer(NOTHING);
  using _executorKeys = executorKeys;
  const { keys: harnessKeys } = await initiator.finish(message2);
  harnessKeys[Symbol.dispose]();
}

/** How often a handshake uses a primitive. */
async function usesOfAHandshake(): Promise<number> {
  const ledger = new Ledger();
  await shakeHands(ledger, () => {});
  ledger.assertNothingLeft("a handshake that was not disturbed");
  return ledger.uses;
}

Deno.test("a handshake leaves no secret, whichever use of a primitive fails", async () => {
  const uses = await usesOfAHandshake();
  assert.equal(uses, 28);
  for (let failing = 0; failing < uses; failing++) {
    const ledger = new Ledger((use) => {
      if (use === failing) throw new PrimitiveError();
    });
    await assert.rejects(shakeHands(ledger, () => {}), { name: "HandshakeError" });
    ledger.assertNothingLeft(`use ${failing} failed`);
  }
});

Deno.test("a handshake leaves no secret, during whichever use of a primitive it is given up", async () => {
  const uses = await usesOfAHandshake();
  for (let last = 0; last < uses; last++) {
    const ends: Disposable[] = [];
    const ledger = new Ledger((use) => {
      if (use === last) { for (const end of ends) end[Symbol.dispose](); }
    });
    await shakeHands(ledger, (end) => void ends.push(end)).catch(() => {});
    ledger.assertNothingLeft(`it was given up at use ${last}`);
  }
});
