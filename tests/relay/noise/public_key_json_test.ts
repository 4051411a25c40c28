import assert from "node:assert/strict";
import { decodePublicKeys, encodePublicKeys } from "../../../lib/relay/noise/public_key_json.ts";
import { loadVectors, toHex } from "../vectors/load.ts";
import { type FixedVector, publicKeysOf } from "../vectors/noise.ts";

const { initiator_static } = loadVectors<FixedVector>("handshake-fixed.json");
const json = initiator_static.public_key_json as { x25519_public_key: string; mlkem768_public_key: string };

Deno.test("public keys become the recorded JSON, and come back from it", () => {
  assert.deepEqual(encodePublicKeys(publicKeysOf(initiator_static)), json);
  const keys = decodePublicKeys(json);
  assert.equal(toHex(keys.x25519), initiator_static.x25519_public_hex);
  assert.equal(toHex(keys.mlkem768), initiator_static.mlkem768_public_hex);
});

Deno.test("the members of public keys go out in the reference's order", () => {
  assert.deepEqual(Object.keys(encodePublicKeys(publicKeysOf(initiator_static))), [
    "suite",
    "x25519_public_key",
    "mlkem768_public_key",
  ]);
});

const BAD: readonly [what: string, value: unknown, why: string][] = [
  [
    "another suite",
    { ...json, suite: "Noise_hybridIK_25519+MLKEM768_AESGCM_SHA256" },
    "unsupported Noise channel suite",
  ],
  ["a suite that is no text", { ...json, suite: 1 }, "unsupported Noise channel suite"],
  ["an X25519 key that is no base64", { ...json, x25519_public_key: "*" }, "invalid X25519 public key"],
  [
    "an X25519 key without padding",
    change("x25519_public_key", (text) => text.slice(0, -1)),
    "invalid X25519 public key",
  ],
  [
    "an X25519 key in the URL alphabet",
    change("x25519_public_key", (text) => "-" + text.slice(1)),
    "invalid X25519 public key",
  ],
  ["an X25519 key with a space", change("x25519_public_key", (text) => text + " "), "invalid X25519 public key"],
  ["an X25519 key that is no text", { ...json, x25519_public_key: null }, "invalid X25519 public key"],
  ["an empty X25519 key", { ...json, x25519_public_key: "" }, "invalid X25519 public key length"],
  ["a short X25519 key", { ...json, x25519_public_key: "AAAA" }, "invalid X25519 public key length"],
  ["an ML-KEM key that is no base64", { ...json, mlkem768_public_key: "=" }, "invalid ML-KEM-768 public key"],
  ["a short ML-KEM key", { ...json, mlkem768_public_key: "AAAA" }, "invalid ML-KEM-768 public key length"],
  ["a long ML-KEM key", change("mlkem768_public_key", (text) => "AAAA" + text), "invalid ML-KEM-768 public key length"],
  ["a member more", { ...json, more: 1 }, "unknown field"],
  ["a member less", { suite: initiator_static.public_key_json["suite"] }, "missing field `x25519_public_key`"],
  ["an inherited member", Object.create(json), "missing field `suite`"],
  ["a list", [json], "not an object"],
  ["nothing", null, "not an object"],
  ["a text", "keys", "not an object"],
];

function change(member: keyof typeof json, how: (text: string) => string): unknown {
  return { ...json, [member]: how(json[member]) };
}

for (const [what, value, why] of BAD) {
  Deno.test(`${what} is no public key`, () => {
    assert.throws(() => decodePublicKeys(value), {
      name: "PublicKeyError",
      message: `invalid Noise channel public key: ${why}`,
    });
  });
}
