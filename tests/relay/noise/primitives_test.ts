import assert from "node:assert/strict";
import * as node from "node:crypto";
import fc from "fast-check";
import { loadPrimitives } from "../../../lib/relay/noise/load_primitives.ts";
import { isMlKemPublicKey } from "../../../lib/relay/noise/mlkem_check.ts";
import { nonceOf } from "../../../lib/relay/noise/nonce.ts";
import {
  type AesKey,
  anyBitSet,
  type Bytes,
  PrimitiveError,
  type Primitives,
} from "../../../lib/relay/noise/primitives.ts";
import { platformAes256Gcm } from "../../../lib/relay/noise/platform_aes.ts";
import { platformX25519 } from "../../../lib/relay/noise/platform_x25519.ts";
import { SymmetricState } from "../../../lib/relay/noise/symmetric_state.ts";
import { noblePrimitives } from "../vectors/noise.ts";

const platform = await loadPrimitives();
const noble = noblePrimitives();
const BOTH: readonly (readonly [Primitives, Primitives])[] = [[platform, noble], [noble, platform]];

function bytes(length: number): fc.Arbitrary<Bytes> {
  return fc.uint8Array({ minLength: length, maxLength: length }).map((array) => new Uint8Array(array));
}

/** What leaves a primitive is nobody's buffer but the caller's, and no `Buffer` of Node. */
function assertPlain(result: Uint8Array): void {
  assert.equal(Object.getPrototypeOf(result), Uint8Array.prototype);
  assert.equal(result.buffer.byteLength, result.byteLength);
}

Deno.test("X25519 of the platform and of @noble agree, with keys that nobody chose carefully too", () => {
  fc.assert(
    fc.property(bytes(32), bytes(32), (secret, peer) => {
      using ours = platform.x25519.fromSecret(secret);
      using theirs = noble.x25519.fromSecret(secret);
      assert.deepEqual(ours.public, theirs.public);
      assert.deepEqual(ours.agree(peer), theirs.agree(peer));
      assertPlain(ours.public);
      assertPlain(ours.agree(peer));
      assertPlain(theirs.agree(peer));
    }),
    { numRuns: 25 },
  );
});

Deno.test("generated X25519 keys agree across the two", () => {
  for (const [one, other] of BOTH) {
    using near = one.x25519.generate();
    using far = other.x25519.generate();
    assert.deepEqual(near.agree(far.public), far.agree(near.public));
    assert.notDeepEqual(near.public, far.public);
  }
});

Deno.test("X25519 refuses a key of small order, and one of another length", () => {
  for (const { x25519 } of [platform, noble]) {
    using pair = x25519.generate();
    for (const peer of [new Uint8Array(32), Uint8Array.of(1, ...new Uint8Array(31)), new Uint8Array(31)]) {
      assert.throws(() => pair.agree(peer), PrimitiveError);
    }
  }
});

Deno.test("X25519 refuses zeros also of a platform that gives them out", () => {
  const careless = { ...node, diffieHellman: () => Buffer.alloc(32) } as unknown as typeof node;
  using pair = platformX25519(careless).generate();
  using other = platform.x25519.generate();
  assert.throws(() => pair.agree(other.public), PrimitiveError);
});

Deno.test("ML-KEM of the platform and of @noble make the same keys of a seed, and decapsulate alike", async () => {
  await fc.assert(
    fc.asyncProperty(bytes(64), bytes(1088), async (seed, forged) => {
      using ours = await platform.mlkem768.fromSeed(seed);
      using theirs = await noble.mlkem768.fromSeed(seed);
      assert.deepEqual(ours.public, theirs.public);
      for (const [one, other] of BOTH) {
        const { ciphertext, shared } = await one.mlkem768.encapsulate(ours.public);
        assert.equal(ciphertext.length, 1088);
        assertPlain(ciphertext);
        assertPlain(shared);
        assert.deepEqual(await (other === platform ? ours : theirs).decapsulate(ciphertext), shared);
      }
      assert.deepEqual(await ours.decapsulate(forged), await theirs.decapsulate(forged));
    }),
    { numRuns: 15 },
  );
});

Deno.test("ML-KEM gives each encapsulation another secret", async () => {
  for (const { mlkem768 } of [platform, noble]) {
    using pair = await mlkem768.generate();
    const [first, second] = [await mlkem768.encapsulate(pair.public), await mlkem768.encapsulate(pair.public)];
    assert.notDeepEqual(first.shared, second.shared);
    assert.deepEqual(await pair.decapsulate(second.ciphertext), second.shared);
  }
});

Deno.test("ML-KEM refuses a key with an unreduced coefficient, and what has another length", async () => {
  for (const { mlkem768 } of [platform, noble]) {
    using pair = await mlkem768.generate();
    const unreduced = pair.public.slice();
    unreduced.fill(0xff, 0, 2);
    await assert.rejects(mlkem768.encapsulate(unreduced), PrimitiveError);
    await assert.rejects(mlkem768.encapsulate(pair.public.slice(1)), PrimitiveError);
    await assert.rejects(pair.decapsulate(new Uint8Array(1087)), PrimitiveError);
  }
});

Deno.test("our own check of an ML-KEM key says what @noble says of it", async () => {
  using pair = await noble.mlkem768.generate();
  const coefficient = fc.oneof(fc.constantFrom(0, 3328, 3329, 4095), fc.nat(4095));
  await fc.assert(
    fc.asyncProperty(fc.nat(767), coefficient, async (at, value) => {
      const key = pair.public.slice();
      const start = 3 * (at >> 1);
      if (at % 2 === 0) {
        key[start] = value & 0xff;
        key[start + 1] = (key[start + 1]! & 0xf0) | value >> 8;
      } else {
        key[start + 1] = (key[start + 1]! & 0x0f) | (value & 0x0f) << 4;
        key[start + 2] = value >> 4;
      }
      assert.equal(isMlKemPublicKey(key), value < 3329);
      const taken = await noble.mlkem768.encapsulate(key).then(() => true, () => false);
      assert.equal(isMlKemPublicKey(key), taken);
    }),
    { numRuns: 25 },
  );
  assert(!isMlKemPublicKey(pair.public.slice(1)));
  assert(!isMlKemPublicKey(Uint8Array.of(...pair.public, 0)));
});

/** Seals or opens in the four ways that there are. */
async function everyWay(raw: Bytes, work: (key: AesKey) => Promise<Bytes>[]): Promise<Bytes[]> {
  using ours = platform.aes256Gcm.key(raw);
  using theirs = noble.aes256Gcm.key(raw);
  return await Promise.all([...work(ours), ...work(theirs)]);
}

Deno.test("AES-256-GCM of the platform, at once and in the background, and of @noble seal alike", async () => {
  const plaintext = fc.uint8Array({ maxLength: 2000 });
  await fc.assert(
    fc.asyncProperty(bytes(32), bytes(12), plaintext, async (raw, nonce, text) => {
      const sealed = await everyWay(raw, (key) => [
        Promise.resolve(key.seal(nonce, text)),
        ...key.background ? [key.background.seal(nonce, text)] : [],
      ]);
      assert.equal(sealed.length, 3);
      for (const ciphertext of sealed) {
        assertPlain(ciphertext);
        assert.deepEqual(ciphertext, sealed[0]);
      }
      const opened = await everyWay(raw, (key) => [
        Promise.resolve(key.open(nonce, sealed[0]!)),
        ...key.background ? [key.background.open(nonce, sealed[0]!)] : [],
      ]);
      for (const result of opened) {
        assertPlain(result);
        assert.deepEqual(result, new Uint8Array(text));
      }
    }),
    { numRuns: 30 },
  );
});

Deno.test("AES-256-GCM authenticates what is associated with a text", () => {
  fc.assert(
    fc.property(
      bytes(32),
      bytes(12),
      fc.uint8Array(),
      fc.uint8Array({ minLength: 1 }),
      (raw, nonce, text, associated) => {
        using ours = platform.aes256Gcm.key(raw);
        using theirs = noble.aes256Gcm.key(raw);
        const sealed = ours.seal(nonce, text, associated);
        assert.deepEqual(sealed, theirs.seal(nonce, text, associated));
        assert.deepEqual(theirs.open(nonce, sealed, associated), new Uint8Array(text));
        assert.deepEqual(ours.open(nonce, sealed, associated), new Uint8Array(text));
        for (const key of [ours, theirs]) {
          assert.throws(() => key.open(nonce, sealed), PrimitiveError);
          assert.throws(() => key.open(nonce, sealed, associated.map((byte) => byte ^ 1)), PrimitiveError);
        }
      },
    ),
    { numRuns: 30 },
  );
});

Deno.test("AES-256-GCM opens nothing that was changed, moved to another nonce, or is too short", async () => {
  const raw = new Uint8Array(32).fill(1);
  const nonce = nonceOf(7);
  using ours = platform.aes256Gcm.key(raw);
  using theirs = noble.aes256Gcm.key(raw);
  const sealed = ours.seal(nonce, new Uint8Array(100));
  const bad = fc.oneof(
    fc.nat(sealed.length * 8 - 1).map((bit) =>
      sealed.map((byte, at) => at === bit >> 3 ? byte ^ 1 << (bit & 7) : byte)
    ),
    fc.nat(sealed.length - 1).map((length) => sealed.slice(0, length)),
    fc.constant(Uint8Array.of(...sealed, 0)),
  );
  await fc.assert(
    fc.asyncProperty(bad, async (ciphertext) => {
      for (const key of [ours, theirs]) assert.throws(() => key.open(nonce, ciphertext), PrimitiveError);
      await assert.rejects(ours.background!.open(nonce, ciphertext), PrimitiveError);
    }),
    { numRuns: 60 },
  );
  for (const key of [ours, theirs]) assert.throws(() => key.open(nonceOf(8), sealed), PrimitiveError);
});

Deno.test("an AES key that was wiped seals nothing, and copies what it is made of", async () => {
  for (const aes of [platform.aes256Gcm, noble.aes256Gcm, platformAes256Gcm(node, undefined)]) {
    const raw = new Uint8Array(32).fill(9);
    const key = aes.key(raw);
    const before = key.seal(nonceOf(0), new Uint8Array(5));
    raw.fill(0);
    assert.deepEqual(key.seal(nonceOf(0), new Uint8Array(5)), before);
    key[Symbol.dispose]();
    assert.throws(() => key.seal(nonceOf(0), new Uint8Array(5)), /wiped/);
    assert.throws(() => key.open(nonceOf(0), before), /wiped/);
    if (key.background !== undefined) {
      await assert.rejects(key.background.seal(nonceOf(0), new Uint8Array(5)), /wiped/);
    }
  }
});

Deno.test("SHA-256 and HMAC are those of WebCrypto, of one part or of several", async () => {
  await fc.assert(
    fc.asyncProperty(bytes(32), fc.uint8Array(), fc.uint8Array(), async (key, first, second) => {
      const whole = Uint8Array.of(...first, ...second);
      const hash = platform.hash.sha256(first, second);
      assert.deepEqual(hash, new Uint8Array(await crypto.subtle.digest("SHA-256", whole)));
      const algorithm = { name: "HMAC", hash: "SHA-256" };
      const imported = await crypto.subtle.importKey("raw", key, algorithm, false, ["sign"]);
      const mac = platform.hash.hmac(key, first, second);
      assert.deepEqual(mac, new Uint8Array(await crypto.subtle.sign("HMAC", imported, whole)));
      assertPlain(hash);
      assertPlain(mac);
    }),
    { numRuns: 30 },
  );
});

Deno.test("the chaining key is what HKDF (RFC 5869) makes of it, and so are the keys of the two directions", async () => {
  await fc.assert(
    fc.asyncProperty(bytes(32), async (secret) => {
      const seen: Bytes[] = [];
      using state = new SymmetricState(platform, "a name", (_hash, chainingKey) => seen.push(chainingKey));
      const expected = async (salt: Bytes, input: Bytes, outputs: number) => {
        const key = await crypto.subtle.importKey("raw", input, "HKDF", false, ["deriveBits"]);
        const algorithm = { name: "HKDF", hash: "SHA-256", salt, info: new Uint8Array(0) };
        const derived = new Uint8Array(await crypto.subtle.deriveBits(algorithm, key, outputs * 256));
        return Array.from({ length: outputs }, (_, at) => derived.slice(32 * at, 32 * (at + 1)));
      };
      const first = await expected(seen[0]!, secret, 2);
      state.mixKey(secret.slice());
      assert.deepEqual(seen[1], first[0]);
      const second = await expected(seen[1]!, secret, 3);
      state.mixKeyAndHash(secret.slice());
      assert.deepEqual(seen.at(-1), second[0]);
      assert.deepEqual(state.split(), await expected(second[0]!, new Uint8Array(0), 2));
    }),
    { numRuns: 15 },
  );
});

Deno.test("a transcript wipes the secrets that it has mixed in, and does nothing after its end", () => {
  const state = new SymmetricState(platform, "a name");
  const secret = new Uint8Array(32).fill(1);
  state.mixKey(secret);
  assert(!anyBitSet(secret));
  state[Symbol.dispose]();
  const uses = [
    () => state.mixHash(new Uint8Array(1)),
    () => state.mixKey(new Uint8Array(32)),
    () => state.mixKeyAndHash(new Uint8Array(32)),
    () => state.encryptAndHash(new Uint8Array(1)),
    () => state.decryptAndHash(new Uint8Array(17)),
    () => state.split(),
  ];
  for (const use of uses) assert.throws(use, /over/);
});

Deno.test("a nonce is four zeros and the count, most significant byte first", () => {
  assert.equal(nonceOf(0).toHex(), "000000000000000000000000");
  assert.equal(nonceOf(258).toHex(), "000000000000000000000102");
  assert.equal(nonceOf(0xffff_ffff).toHex(), "0000000000000000ffffffff");
  assert.equal(nonceOf(2 ** 32 + 1).toHex(), "000000000000000100000001");
  for (const count of [-1, 0.5, NaN, 2 ** 53]) assert.throws(() => nonceOf(count), RangeError);
});
