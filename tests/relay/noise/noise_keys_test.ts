import { KeyPairs } from "../../../lib/relay/noise/key_pairs.ts";
import type { PublicKeys } from "../../../lib/relay/noise/keys.ts";
import type { MlKemKeyPair, Primitives, X25519KeyPair } from "../../../lib/relay/noise/primitives.ts";
import { StaticKeys } from "../../../lib/relay/noise/static_keys.ts";
import { assertFails, begin, executor, harness, NOTHING, platform, read } from "../noise_ends.ts";
import { noblePrimitives } from "../vectors/noise.ts";

/** A key of X25519 that agrees with everybody on nothing: whoever accepts zeros has agreed on them with its owner. */
function smallOrder(point: Uint8Array<ArrayBuffer>): X25519KeyPair {
  return { public: point, agree: () => new Uint8Array(32), [Symbol.dispose]() {} };
}

/** The u-coordinates of small order, those that are not reduced included. */
const SMALL_ORDER = [
  "0000000000000000000000000000000000000000000000000000000000000000",
  "0100000000000000000000000000000000000000000000000000000000000000",
  "e0eb7a7c3b41b8ae1656e3faf19fc46ada098deb9c32b1fd866205165f49b800",
  "5f9c95bca3508c24b1d0b1559c83ef5b04445cc4581c8e86d8224eddd09f1157",
  "ecffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff7f",
  "edffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff7f",
  "eeffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff7f",
].map((hex) => Uint8Array.fromHex(hex));

Deno.test("an end whose X25519 key has a small order is refused, by either set of primitives", async () => {
  for (const primitives of [platform, noblePrimitives()]) {
    const own = primitives === platform ? executor : await StaticKeys.generate(primitives);
    for (const point of SMALL_ORDER) {
      const evil = smallOrder(point);
      const lazy: Primitives = { ...primitives, x25519: { ...primitives.x25519, generate: () => evil } };
      const executorKeys = own.public;
      using asEphemeral = await begin({ primitives: lazy, executor: executorKeys });
      await assertFails(read(asEphemeral.message1, { primitives, own }));
      using asStatic = await begin({ own: new KeyPairs(evil, harness.mlkem768), executor: executorKeys });
      await assertFails(read(asStatic.message1, { primitives, own }));
      await assertFails(begin({ primitives, executor: { ...executorKeys, x25519: point } }));
    }
  }
});

Deno.test("an executor whose ephemeral X25519 key has a small order is refused", async () => {
  for (const point of SMALL_ORDER) {
    const lazy: Primitives = { ...platform, x25519: { ...platform.x25519, generate: () => smallOrder(point) } };
    using initiator = await begin();
    using responder = await read(initiator.message1, { primitives: lazy });
    // It would agree on zeros itself, were it honest: let it, and see that we do not.
    await assertFails(initiator.finish((await responder.answer(NOTHING)).message2));
  }
});

/** An ML-KEM key that is right but for one coefficient, which is not below the modulus. */
function unreduced(pair: MlKemKeyPair): MlKemKeyPair {
  const key = pair.public.slice();
  key[1149] = 3329 & 0xff;
  key[1150] = (key[1150]! & 0xf0) | 3329 >> 8;
  return { public: key, decapsulate: (ciphertext) => pair.decapsulate(ciphertext), [Symbol.dispose]() {} };
}

Deno.test("an unreduced ML-KEM key is refused wherever it is received, also if the primitive would take it", async () => {
  // Encapsulates to the right key whatever it is given, as an implementation without the check does.
  const careless = (owner: PublicKeys): Primitives => ({
    ...platform,
    mlkem768: { ...platform.mlkem768, encapsulate: () => platform.mlkem768.encapsulate(owner.mlkem768) },
  });
  const bad = unreduced(harness.mlkem768);

  using withStatic = await begin({ own: new KeyPairs(harness.x25519, bad) });
  await assertFails(read(withStatic.message1, { primitives: careless(harness.public) }));

  const generating: Primitives = {
    ...platform,
    mlkem768: { ...platform.mlkem768, generate: async () => unreduced(await platform.mlkem768.generate()) },
  };
  using withEphemeral = await begin({ primitives: generating });
  await assertFails(read(withEphemeral.message1));

  const wrong = { ...executor.public, mlkem768: unreduced(executor.mlkem768).public };
  await assertFails(begin({ executor: wrong, primitives: careless(executor.public) }));

  using initiator = await begin();
  using responder = await read(initiator.message1, { primitives: generating });
  await assertFails(initiator.finish((await responder.answer(NOTHING)).message2));
});

Deno.test("an executor's key of another length is refused before anything is made of it", async () => {
  for (const x25519 of [new Uint8Array(31), new Uint8Array(33)]) {
    await assertFails(begin({ executor: { ...executor.public, x25519 } }));
  }
  for (const mlkem768 of [new Uint8Array(1183), new Uint8Array(1185)]) {
    await assertFails(begin({ executor: { ...executor.public, mlkem768 } }));
  }
});
