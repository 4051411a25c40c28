/** What a harness leaves of the secrets of its handshake and of its stream, however they end. */
import assert from "node:assert/strict";
import { encodeHandshake, encodeReset } from "../../lib/relay/stream/frame.ts";
import { REJECTED_PAYLOAD } from "../../lib/relay/noise/noise.ts";
import { harnessKeys, HarnessRig } from "./harness_rig.ts";
import { SecretLedger } from "./support/secret_ledger.ts";

/** How often the first message uses a primitive, and how often the first and the second together. */
const [GREETING_USES, USES] = [8, 14];

/** Plays `life`, and then looks for what is left. */
async function assertWiped(
  life: (rig: HarnessRig) => Promise<unknown>,
  used: (use: number, rig: () => HarnessRig) => void = () => {},
): Promise<void> {
  // The first use is made while the rig is.
  const ledger: SecretLedger = new SecretLedger((use) => used(use, () => rig));
  const rig: HarnessRig = new HarnessRig({ primitives: ledger.primitives, keys: ledger.watched(harnessKeys) });
  await life(rig);
  await rig[Symbol.asyncDispose]();
  ledger.assertNothingLeft("the harness has ended");
}

Deno.test("nothing is left of a harness that was connected", async () => {
  await assertWiped((rig) => rig.open());
});

Deno.test("nothing is left of a harness that is not answered in time", async () => {
  await assertWiped(async (rig) => {
    await rig.greeting();
    rig.clock.advance(10_000);
    await assert.rejects(rig.opening);
  });
});

for (const payload of [new Uint8Array(REJECTED_PAYLOAD), Uint8Array.of(1)]) {
  Deno.test(`nothing is left of a harness whose answer has a payload of ${payload.length} bytes`, async () => {
    await assertWiped(async (rig) => {
      const { streamId } = await rig.greeting();
      rig.socket.deliver(encodeHandshake(streamId, (await rig.answer({ payload })).message2));
      await assert.rejects(rig.opening);
    });
  });
}

for (
  const [what, interrupt] of [
    ["reset", (rig, streamId) => rig.socket.deliver(encodeReset(streamId))],
    ["given up", (rig) => rig.abort(new Error("not wanted"))],
  ] as readonly (readonly [string, (rig: HarnessRig, streamId: string) => void])[]
) {
  Deno.test(`nothing is left of a harness that is ${what} while it reads the answer`, async () => {
    for (let moment = GREETING_USES; moment < USES; moment++) {
      let [streamId, interrupted] = ["", false];
      await assertWiped(async (rig) => {
        ({ streamId } = await rig.greeting());
        await rig.accept();
        await assert.rejects(rig.opening);
      }, (use, rig) => {
        if (use !== moment) return;
        interrupt(rig(), streamId);
        interrupted = true;
      });
      assert.ok(interrupted);
    }
  });
}

Deno.test("nothing is left of a harness that is given up while it makes the first message", async () => {
  for (let moment = 0; moment < GREETING_USES; moment++) {
    await assertWiped(async (rig) => {
      await assert.rejects(rig.opening, /not wanted/);
      assert.equal(rig.dialled.length, 0);
      rig.socket.end("closed by us");
    }, (use, rig) => use === moment && queueMicrotask(() => rig().abort(new Error("not wanted"))));
  }
});
