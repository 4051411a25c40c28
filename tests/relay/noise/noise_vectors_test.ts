import assert from "node:assert/strict";
import { prologue } from "../../../lib/relay/noise/handshake.ts";
import { loadPrimitives } from "../../../lib/relay/noise/load_primitives.ts";
import { Initiator, REJECTED_PAYLOAD, Responder, type TranscriptObserver } from "../../../lib/relay/noise/noise.ts";
import type { Primitives } from "../../../lib/relay/noise/primitives.ts";
import { encodePublicKeys } from "../../../lib/relay/noise/public_key_json.ts";
import { fromHex, loadVectors, toHex } from "../vectors/load.ts";
import {
  contextOf,
  EXECUTOR_SESSIONS,
  type ExecutorSession,
  type FixedVector,
  type HarnessSession,
  initiatorRandom,
  noblePrimitives,
  publicKeysOf,
  responderRandom,
  staticKeysOf,
  type Step,
} from "../vectors/noise.ts";

const fixed = loadVectors<FixedVector>("handshake-fixed.json");

/** Collects the transcript as the vectors list it. */
function transcript(): { observe: TranscriptObserver; steps: { h: string; ck: string }[] } {
  const steps: { h: string; ck: string }[] = [];
  return { steps, observe: (h, ck) => steps.push({ h: toHex(h), ck: toHex(ck) }) };
}

function withoutNames(steps: readonly Step[]): { h: string; ck: string }[] {
  return steps.map(({ h, ck }) => ({ h, ck }));
}

Deno.test("the fixed handshake comes out byte for byte on both ends, and so does every step of its transcript", async () => {
  const [ours, theirs] = [transcript(), transcript()];
  const harness = noblePrimitives(initiatorRandom(fixed.initiator_ephemeral));
  const executor = noblePrimitives(responderRandom(fixed.responder_ephemeral));
  using initiatorKeys = await staticKeysOf(harness, fixed.initiator_static);
  using responderKeys = await staticKeysOf(executor, fixed.responder_static);
  const context = contextOf(fixed);

  using initiator = await Initiator.begin({
    primitives: harness,
    own: initiatorKeys,
    executor: publicKeysOf(fixed.responder_static),
    context,
    authorization: fixed.message1.payload_utf8,
    observe: ours.observe,
  });
  assert.equal(toHex(initiator.message1), fixed.message1.hex);

  const message1 = fromHex(fixed.message1.hex);
  using responder = await Responder.read({
    primitives: executor,
    own: responderKeys,
    context,
    message1,
    observe: theirs.observe,
  });
  assert.equal(new TextDecoder().decode(responder.payload), fixed.message1.payload_utf8);
  assert.deepEqual(encodePublicKeys(responder.harness), fixed.initiator_static.public_key_json);
  const answer = await responder.answer(new Uint8Array(0));
  assert.equal(toHex(answer.message2), fixed.message2.hex);

  const finished = await initiator.finish(fromHex(fixed.message2.hex));
  assert.equal(finished.payload.length, 0);
  for (const [keys, send, receive] of [[finished.keys, "send", "receive"], [answer.keys, "receive", "send"]] as const) {
    assert.equal(toHex(keys[send]), fixed.split.initiator_to_responder_key_hex);
    assert.equal(toHex(keys[receive]), fixed.split.responder_to_initiator_key_hex);
  }
  assert.deepEqual(ours.steps, withoutNames(fixed.initiator_transcript_steps));
  assert.deepEqual(theirs.steps, withoutNames(fixed.responder_transcript_steps));
});

Deno.test("the prologue is the recorded one", () => {
  assert.equal(toHex(prologue(contextOf(fixed))), fixed.prologue_hex);
});

Deno.test("the rejection of the executor's own credentials comes out byte for byte, and is recognised", async () => {
  const rejected = loadVectors<{ message2_hex: string; final_handshake_hash_hex: string }>(
    "handshake-fixed-rejected.json",
  );
  const { observe, steps } = transcript();
  const executor = noblePrimitives(responderRandom(fixed.responder_ephemeral));
  using own = await staticKeysOf(executor, fixed.responder_static);
  const message1 = fromHex(fixed.message1.hex);
  using responder = await Responder.read({ primitives: executor, own, context: contextOf(fixed), message1, observe });
  const { message2 } = await responder.answer(REJECTED_PAYLOAD);
  assert.equal(toHex(message2), rejected.message2_hex);
  assert.equal(steps.at(-1)?.h, rejected.final_handshake_hash_hex);

  const harness = noblePrimitives(initiatorRandom(fixed.initiator_ephemeral));
  using harnessKeys = await staticKeysOf(harness, fixed.initiator_static);
  using initiator = await Initiator.begin({
    primitives: harness,
    own: harnessKeys,
    executor: own.public,
    context: contextOf(fixed),
    authorization: fixed.message1.payload_utf8,
  });
  assert.deepEqual((await initiator.finish(message2)).payload, REJECTED_PAYLOAD);
});

for (const name of EXECUTOR_SESSIONS) {
  Deno.test(`${name}: message 1 comes out byte for byte, and what the reference answered is taken`, async () => {
    await repeatHarness(loadVectors(name), (random) => noblePrimitives(random));
  });

  Deno.test(`${name}: the platform's primitives do the same`, async () => {
    const platform = await loadPrimitives();
    // The message that goes into a ciphertext cannot be given to the platform; all else is its own.
    await repeatHarness(loadVectors(name), (random) => ({
      ...platform,
      x25519: { ...platform.x25519, generate: () => platform.x25519.fromSecret(random(32)) },
      mlkem768: {
        ...platform.mlkem768,
        encapsulate: (key) => noblePrimitives(random).mlkem768.encapsulate(key),
        generate: () => platform.mlkem768.fromSeed(random(64)),
      },
    }));
  });
}

async function repeatHarness(
  session: ExecutorSession,
  primitivesWith: (random: (length: number) => Uint8Array<ArrayBuffer>) => Primitives,
): Promise<void> {
  const primitives = primitivesWith(initiatorRandom(session.harness_ephemeral));
  const { observe, steps } = transcript();
  using own = await staticKeysOf(primitives, session.harness_static);
  assert.deepEqual(encodePublicKeys(own.public), session.harness_static.public_key_json);
  using initiator = await Initiator.begin({
    primitives,
    own,
    executor: publicKeysOf(session.executor_static_public),
    context: contextOf(session),
    authorization: session.message1.payload_utf8,
    observe,
  });
  assert.equal(toHex(initiator.message1), session.message1.hex);
  if (session.message2 === undefined) return;
  const { payload, keys } = await initiator.finish(fromHex(session.message2.hex));
  assert.equal(new TextDecoder().decode(payload), session.message2.payload_utf8);
  assert.deepEqual(steps, withoutNames(session.transcript_steps!));
  // A handshake that ended in the rejection is not used for records; nothing was recorded of its keys then.
  if (session.split === undefined) return;
  assert.equal(toHex(keys.send), session.split.initiator_to_responder_key_hex);
  assert.equal(toHex(keys.receive), session.split.responder_to_initiator_key_hex);
}

Deno.test("real-harness-session.json: the reference's message 1 is read, and message 2 comes out byte for byte", async () => {
  const session = loadVectors<HarnessSession>("real-harness-session.json");
  const primitives = noblePrimitives(responderRandom(session.executor_ephemeral));
  const { observe, steps } = transcript();
  using own = await staticKeysOf(primitives, session.executor_static);
  const message1 = fromHex(session.message1.hex);
  using responder = await Responder.read({ primitives, own, context: contextOf(session), message1, observe });
  assert.equal(new TextDecoder().decode(responder.payload), session.message1.payload_utf8);
  assert.deepEqual(encodePublicKeys(responder.harness), session.harness_static_public.public_key_json);
  const { message2, keys } = await responder.answer(new Uint8Array(0));
  assert.equal(toHex(message2), session.message2.hex);
  assert.deepEqual(steps, withoutNames(session.transcript_steps));
  assert.equal(toHex(keys.receive), session.split.initiator_to_responder_key_hex);
  assert.equal(toHex(keys.send), session.split.responder_to_initiator_key_hex);
});
