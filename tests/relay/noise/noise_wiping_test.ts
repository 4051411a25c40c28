/** What is left of a handshake's secrets, wherever it ends: each primitive in turn fails, or is in use when it is given up. */
import assert from "node:assert/strict";
import { PrimitiveError } from "../../../lib/relay/noise/primitives.ts";
import { begin, executor, harness, NOTHING, read } from "../noise_ends.ts";
import { SecretLedger } from "../support/secret_ledger.ts";

/** A whole handshake; each end is given to `begun` as soon as it is there. */
async function shakeHands(ledger: SecretLedger, begun: (end: Disposable) => void): Promise<void> {
  const { primitives } = ledger;
  using initiator = await begin({ primitives, own: ledger.watched(harness), executor: executor.public });
  begun(initiator);
  using responder = await read(initiator.message1, { primitives, own: ledger.watched(executor) });
  begun(responder);
  const { message2, keys: executorKeys } = await responder.answer(NOTHING);
  using _executorKeys = executorKeys;
  const { keys: harnessKeys } = await initiator.finish(message2);
  harnessKeys[Symbol.dispose]();
}

/** How often a handshake uses a primitive. */
async function usesOfAHandshake(): Promise<number> {
  const ledger = new SecretLedger();
  await shakeHands(ledger, () => {});
  ledger.assertNothingLeft("a handshake that was not disturbed");
  return ledger.uses;
}

Deno.test("a handshake leaves no secret, whichever use of a primitive fails", async () => {
  const uses = await usesOfAHandshake();
  assert.equal(uses, 28);
  for (let failing = 0; failing < uses; failing++) {
    const ledger = new SecretLedger((use) => {
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
    const ledger = new SecretLedger((use) => {
      if (use === last) { for (const end of ends) end[Symbol.dispose](); }
    });
    await shakeHands(ledger, (end) => void ends.push(end)).catch(() => {});
    ledger.assertNothingLeft(`it was given up at use ${last}`);
  }
});
