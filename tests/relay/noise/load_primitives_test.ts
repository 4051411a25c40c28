import assert from "node:assert/strict";
import * as node from "node:crypto";
import { choosePrimitives, loadPrimitives, type Platform } from "../../../lib/relay/noise/load_primitives.ts";
import { Initiator, Responder } from "../../../lib/relay/noise/noise.ts";
import type { Primitives } from "../../../lib/relay/noise/primitives.ts";
import { StaticKeys } from "../../../lib/relay/noise/static_keys.ts";

type NodeCrypto = typeof node;

function missing(): never {
  throw new Error("not supported here");
}

/** `node:crypto` without some of its functions. */
function nodeWith(changes: Partial<Record<keyof NodeCrypto, unknown>>): NodeCrypto {
  return { ...node, ...changes } as NodeCrypto;
}

/** WebCrypto with some of its functions replaced. */
function subtleWith(changes: Record<string, unknown>): SubtleCrypto {
  return new Proxy(crypto.subtle, {
    get(target, name) {
      if (typeof name === "string" && Object.hasOwn(changes, name)) return changes[name];
      const value = Reflect.get(target, name);
      return typeof value === "function" ? value.bind(target) : value;
    },
  });
}

/** Whose primitives were chosen, by the names of what they make. */
async function origins({ x25519, mlkem768, aes256Gcm }: Primitives): Promise<string> {
  using pair = x25519.generate();
  using kem = await mlkem768.generate();
  using aes = aes256Gcm.key(new Uint8Array(32));
  const names = [String(pair), String(kem), String(aes)].map((name) =>
    name.startsWith("[Noble") ? "noble" : "platform"
  );
  return [...names, aes.background === undefined ? "no background" : "background"].join(", ");
}

const CASES: readonly [what: string, platform: Partial<Platform>, chosen: string][] = [
  ["everything", {}, "platform, platform, platform, background"],
  ["no WebCrypto", { subtle: undefined }, "platform, noble, platform, no background"],
  [
    "a WebCrypto without ML-KEM",
    { subtle: subtleWith({ encapsulateBits: undefined, decapsulateBits: undefined, getPublicKey: undefined }) },
    "platform, noble, platform, background",
  ],
  [
    "a WebCrypto whose ML-KEM is another one",
    { subtle: subtleWith({ decapsulateBits: () => Promise.resolve(new ArrayBuffer(32)) }) },
    "platform, noble, platform, background",
  ],
  [
    "a WebCrypto without AES-GCM",
    { subtle: subtleWith({ encrypt: () => Promise.reject(new Error("not supported here")) }) },
    "platform, platform, platform, no background",
  ],
  [
    "no X25519",
    { node: nodeWith({ generateKeyPairSync: missing }) },
    "noble, platform, platform, background",
  ],
  [
    "an X25519 that is another one",
    { node: nodeWith({ diffieHellman: () => new Uint8Array(32).fill(7) }) },
    "noble, platform, platform, background",
  ],
  [
    "no AES-GCM in node:crypto",
    { node: nodeWith({ createCipheriv: missing }) },
    "platform, platform, noble, no background",
  ],
  [
    "nothing but hashes",
    { node: nodeWith({ createPrivateKey: missing, createCipheriv: missing }), subtle: undefined },
    "noble, noble, noble, no background",
  ],
];

for (const [what, platform, chosen] of CASES) {
  Deno.test(`on a platform with ${what} the primitives are: ${chosen}`, async () => {
    const primitives = await choosePrimitives({ node, subtle: crypto.subtle, ...platform });
    assert.equal(await origins(primitives), chosen);
    await assertInteroperates(primitives);
  });
}

/** A handshake with an end that has everything. */
async function assertInteroperates(primitives: Primitives): Promise<void> {
  const full = await loadPrimitives();
  using own = await StaticKeys.generate(primitives);
  using executor = await StaticKeys.generate(full);
  const context = { environmentId: "env", registrationId: "reg", streamId: "stream" };
  using initiator = await Initiator.begin({
    primitives,
    own,
    executor: executor.public,
    context,
    authorization: "authorised",
  });
  using responder = await Responder.read({ primitives: full, own: executor, context, message1: initiator.message1 });
  const { message2, keys } = await responder.answer(new Uint8Array(0));
  assert.deepEqual((await initiator.finish(message2)).keys.send, keys.receive);
}

Deno.test("the primitives are tried once", async () => {
  assert.equal(await loadPrimitives(), await loadPrimitives());
});
