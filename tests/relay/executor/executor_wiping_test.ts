/** What an executor leaves of the secrets of a handshake and of its stream, however they end. */
import assert from "node:assert/strict";
import { SOCKET_HIGH_WATER_BYTES } from "../../../lib/relay/limits.ts";
import { encodeData, encodeReset } from "../../../lib/relay/stream/frame.ts";
import { executorKeys, ExecutorRig, type HarnessOptions } from "../executor_rig.ts";
import { SecretLedger } from "../support/secret_ledger.ts";

/** How often reading a first message and answering it uses a primitive: six times, and eight. */
const USES = 14;

/** Plays `life` with one harness that has greeted, and then looks for what is left. */
async function assertWiped(
  life: (rig: ExecutorRig) => Promise<unknown>,
  options: HarnessOptions & { readonly used?: (use: number, rig: ExecutorRig) => void } = {},
): Promise<SecretLedger> {
  const ledger: SecretLedger = new SecretLedger((use) => options.used?.(use, rig));
  const rig: ExecutorRig = new ExecutorRig({ used: ledger.primitives, keys: ledger.watched(executorKeys) });
  (await rig.harness("s", options)).greet();
  await life(rig);
  await rig[Symbol.asyncDispose]();
  ledger.assertNothingLeft("the streams have been disposed of");
  return ledger;
}

for (const verdict of ["valid", "denied", "credentialsRejected"] as const) {
  Deno.test(`nothing is left of a handshake about which the registry says ${verdict}`, async () => {
    await assertWiped(async (rig) => {
      (await rig.question(0)).answer(verdict);
      await rig.socket.frames(1);
    });
  });
}

Deno.test("nothing is left of a handshake that was made for something else", async () => {
  await assertWiped((rig) => rig.socket.frames(1), { context: { registrationId: "another" } });
});

Deno.test("an authorization is wiped as soon as it has been read", async () => {
  const { opened } = await assertWiped((rig) => rig.question(0), { authorization: "a".repeat(77) });
  assert.deepEqual(opened.filter(({ length }) => length === 77), [new Uint8Array(77)]);
});

Deno.test("nothing is left of an authorization that is not UTF-8", async () => {
  const encode = TextEncoder.prototype.encode;
  TextEncoder.prototype.encode = (text = "") => text === "not UTF-8" ? Uint8Array.of(0xff) : encode.call(encoder, text);
  try {
    await assertWiped((rig) => rig.socket.frames(1), { authorization: "not UTF-8" });
  } finally {
    TextEncoder.prototype.encode = encode;
  }
});

const encoder = new TextEncoder();

Deno.test("nothing is left of a handshake for whose answer the socket has no room", async () => {
  const answered = Promise.withResolvers<void>();
  await assertWiped(async (rig) => {
    rig.socket.bufferedBytes = 2 * SOCKET_HIGH_WATER_BYTES;
    (await rig.question(0)).answer("valid");
    await answered.promise;
    await turn();
    assert.deepEqual([rig.sent, rig.streams.active, rig.refusals], [[], 0, []]);
  }, { used: (use) => use === USES - 1 && answered.resolve() });
});

for (
  const [what, interrupt] of [
    ["it is reset", (rig) => rig.socket.deliver(encodeReset("s"))],
    ["a record comes", (rig) => rig.socket.deliver(encodeData("s", 0, new Uint8Array(40)))],
    ["the socket ends", (rig) => rig.socket.end("connection lost")],
  ] as readonly (readonly [string, (rig: ExecutorRig) => void])[]
) {
  for (const verdict of ["valid", "credentialsRejected"] as const) {
    Deno.test(`nothing is left of a handshake if ${what} at any moment, whose answer would have been ${verdict}`, async () => {
      for (let moment = 0; moment < USES; moment++) {
        const interrupted = Promise.withResolvers<void>();
        await assertWiped((rig) => {
          rig.verdict = verdict;
          return interrupted.promise;
        }, {
          used(use, rig) {
            if (use !== moment) return;
            interrupt(rig);
            interrupted.resolve();
          },
        });
      }
    });
  }
}

/** Lets what has been done take effect. */
function turn(): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve));
}
