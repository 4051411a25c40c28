import assert from "node:assert/strict";
import fc from "fast-check";
import { MAX_MESSAGE1_BYTES, MESSAGE1_BYTES, MESSAGE2_BYTES } from "../../../lib/relay/noise/handshake_layout.ts";
import { KeyPairs } from "../../../lib/relay/noise/key_pairs.ts";
import { MAX_AUTHORIZATION_BYTES, MAX_HANDSHAKE_BYTES } from "../../../lib/relay/limits.ts";
import type { HandshakeContext } from "../../../lib/relay/noise/noise.ts";
import { StaticKeys } from "../../../lib/relay/noise/static_keys.ts";
import { assertFails, begin, context, executor, harness, NOTHING, platform, read } from "../noise_ends.ts";
import { noblePrimitives } from "../vectors/noise.ts";

/** A message with one bit turned over, cut short, or with bytes behind it. */
function damaged(message: Uint8Array): fc.Arbitrary<Uint8Array> {
  return fc.oneof(
    { arbitrary: fc.nat(message.length * 8 - 1).map((bit) => flipped(message, bit)), weight: 3 },
    fc.nat(message.length - 1).map((length) => message.slice(0, length)),
    fc.uint8Array({ minLength: 1, maxLength: 5000 }).map((tail) => Uint8Array.from([...message, ...tail])),
  );
}

function flipped(message: Uint8Array, bit: number): Uint8Array {
  const copy = new Uint8Array(message);
  copy[bit >> 3]! ^= 1 << (bit & 7);
  return copy;
}

Deno.test("both ends get the same keys, crosswise, whichever primitives they use", async () => {
  for (const [ours, theirs] of [[platform, noblePrimitives()], [noblePrimitives(), platform]] as const) {
    using own = await StaticKeys.generate(theirs);
    using initiator = await begin({ primitives: ours, executor: own.public, authorization: "für dich" });
    assert.equal(initiator.message1.length, MESSAGE1_BYTES + 9);
    using responder = await read(initiator.message1, { primitives: theirs, own });
    assert.deepEqual(responder.harness, harness.public);
    assert.equal(new TextDecoder().decode(responder.payload), "für dich");
    const { message2, keys } = await responder.answer(NOTHING);
    assert.equal(message2.length, MESSAGE2_BYTES);
    const finished = await initiator.finish(message2);
    assert.deepEqual(finished.keys.send, keys.receive);
    assert.deepEqual(finished.keys.receive, keys.send);
    assert.notDeepEqual(keys.send, keys.receive);
  }
});

Deno.test("two handshakes between the same ends have nothing in common", async () => {
  const [first, second] = [await begin(), await begin()];
  assert.notDeepEqual(first.message1, second.message1);
  const responders = [await read(first.message1), await read(first.message1)];
  const answers = await Promise.all(responders.map((responder) => responder.answer(NOTHING)));
  assert.notDeepEqual(answers[0]!.message2, answers[1]!.message2);
  assert.notDeepEqual(answers[0]!.keys.send, answers[1]!.keys.send);
  await assertFails(second.finish(answers[0]!.message2));
  first[Symbol.dispose]();
});

Deno.test("message 1 with any damage is refused", async () => {
  using initiator = await begin();
  await fc.assert(
    fc.asyncProperty(damaged(initiator.message1), (message1) => assertFails(read(message1))),
    { numRuns: 120 },
  );
});

Deno.test("message 2 with any damage is refused", async () => {
  using intact = await begin();
  using responder = await read(intact.message1);
  const { message2 } = await responder.answer(NOTHING);
  await fc.assert(
    fc.asyncProperty(damaged(message2), async (damagedMessage) => {
      using initiator = await begin();
      using answering = await read(initiator.message1);
      const answer = await answering.answer(NOTHING);
      // The damage goes to where this answer has it, not to another answer's bytes.
      const difference = Uint8Array.from(damagedMessage, (byte, at) => byte ^ (message2[at] ?? 0));
      const received = difference.map((byte, at) => byte ^ (answer.message2[at] ?? 0));
      await assertFails(initiator.finish(received));
    }),
    { numRuns: 60 },
  );
});

Deno.test("every region of both messages is authenticated", async () => {
  using initiator = await begin();
  for (const at of [0, 1087, 1088, 1119, 1120, 2303, 2304, 2351, 2352, 3551, 3552, initiator.message1.length - 1]) {
    await assertFails(read(flipped(initiator.message1, at * 8)));
  }
  for (const at of [0, 1087, 1088, 2191, 2192, 2223, 2224, 3407, 3408, 3423]) {
    using fresh = await begin();
    using responder = await read(fresh.message1);
    await assertFails(fresh.finish(flipped((await responder.answer(NOTHING)).message2, at * 8)));
  }
});

Deno.test("message 1 is for one executor, environment, registration and stream", async () => {
  using initiator = await begin();
  using other = await StaticKeys.generate(platform);
  await assertFails(read(initiator.message1, { own: other }));
  const halves = [[executor.x25519, other.mlkem768], [other.x25519, executor.mlkem768]] as const;
  for (const [x25519, mlkem768] of halves) {
    await assertFails(read(initiator.message1, { own: new KeyPairs(x25519, mlkem768) }));
  }
  const contexts: HandshakeContext[] = [
    { ...context, environmentId: "other" },
    { ...context, registrationId: "other" },
    { ...context, streamId: "other" },
    { ...context, environmentId: "env" + "r", registrationId: "eg" },
    { ...context, registrationId: "stream", streamId: "reg" },
    { ...context, streamId: "" },
  ];
  for (const elsewhere of contexts) await assertFails(read(initiator.message1, { context: elsewhere }));
});

Deno.test("message 2 of another stream is refused", async () => {
  using initiator = await begin();
  using stranger = await begin({ context: { ...context, streamId: "other" } });
  using responder = await read(stranger.message1, { context: { ...context, streamId: "other" } });
  await assertFails(initiator.finish((await responder.answer(NOTHING)).message2));
});

Deno.test("a message 1 that is no message 1 by its size, or by a key in clear, costs no work", async () => {
  const idle = new KeyPairs(executor.x25519, {
    public: executor.public.mlkem768,
    decapsulate: () => assert.fail("there was work"),
    [Symbol.dispose]() {},
  });
  for (const length of [0, 1, MESSAGE1_BYTES - 1, MAX_MESSAGE1_BYTES + 1, MAX_HANDSHAKE_BYTES, 100_000]) {
    await assertFails(read(new Uint8Array(length), { own: idle }));
  }
  const unreduced = new Uint8Array(MESSAGE1_BYTES);
  unreduced.fill(0xff, 1120, 1123);
  await assertFails(read(unreduced, { own: idle }));
  await assert.rejects(read(new Uint8Array(MESSAGE1_BYTES), { own: idle }), /there was work/);
});

Deno.test("an authorization has up to 4096 bytes, and may be empty", async () => {
  for (const length of [0, 1, MAX_AUTHORIZATION_BYTES]) {
    using initiator = await begin({ authorization: "x".repeat(length) });
    assert.equal((await read(initiator.message1)).payload.length, length);
  }
  using initiator = await begin({ authorization: "x".repeat(MAX_AUTHORIZATION_BYTES + 1) });
  await assertFails(read(initiator.message1));
  await assertFails(begin({ authorization: "x".repeat(MAX_HANDSHAKE_BYTES) }));
});

Deno.test("a handshake is used once, and not after it was given up", async () => {
  const initiator = await begin();
  const responder = await read(initiator.message1);
  const { message2 } = await responder.answer(NOTHING);
  await assert.rejects(responder.answer(NOTHING), /once/);
  await initiator.finish(message2);
  await assert.rejects(initiator.finish(message2), /once/);

  const givenUp = await read(initiator.message1);
  givenUp[Symbol.dispose]();
  await assert.rejects(givenUp.answer(NOTHING), /once/);
  const abandoned = await begin();
  abandoned[Symbol.dispose]();
  await assert.rejects(abandoned.finish(message2), /once/);
});

Deno.test("a handshake that is given up while it is being answered makes no message", async () => {
  using initiator = await begin();
  const responder = await read(initiator.message1);
  const answer = responder.answer(NOTHING);
  responder[Symbol.dispose]();
  await assert.rejects(answer, /over/);
});

Deno.test("a message may be changed by its owner once it has been handed over", async () => {
  using initiator = await begin();
  const message1 = initiator.message1.slice();
  const reading = read(message1);
  message1.fill(0);
  using responder = await reading;
  const { message2 } = await responder.answer(NOTHING);
  const finishing = initiator.finish(message2);
  message2.fill(0);
  await finishing;
});

Deno.test("nothing that holds a secret can be printed", async () => {
  using initiator = await begin({ authorization: "hidden" });
  using responder = await read(initiator.message1);
  const { message2, keys } = await responder.answer(NOTHING);
  const finished = await initiator.finish(message2);
  for (const secret of [harness, harness.x25519, harness.mlkem768, initiator, responder, keys, finished.keys]) {
    const name = `[${secret.constructor.name}]`;
    assert.equal(Deno.inspect(secret, { showHidden: true, getters: true, depth: 10 }), name);
    assert.equal(JSON.stringify(secret), `"${name}"`);
    assert.equal(String(secret), name);
  }
});

Deno.test("keys that have been wiped are not taken for keys", async () => {
  using initiator = await begin();
  using responder = await read(initiator.message1);
  const { keys } = await responder.answer(NOTHING);
  const held = keys.send;
  keys[Symbol.dispose]();
  assert.deepEqual(held, new Uint8Array(32));
  assert.throws(() => keys.send, /wiped/);
  assert.throws(() => keys.receive, /wiped/);

  for (const primitives of [platform, noblePrimitives()]) {
    const own = await StaticKeys.generate(primitives);
    own[Symbol.dispose]();
    assert.throws(() => own.x25519.agree(harness.public.x25519), /wiped/);
    await assert.rejects(own.mlkem768.decapsulate(new Uint8Array(1088)), /wiped/);
  }
});
