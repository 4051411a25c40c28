import assert from "node:assert/strict";
import { hsalsa, xsalsa20poly1305 } from "@noble/ciphers/salsa.js";
import { x25519 } from "@noble/curves/ed25519.js";
import { blake2b } from "@noble/hashes/blake2.js";
import { openSealedBox } from "../../../lib/relay/credentials/sealed_box.ts";
import { seal } from "./seal.ts";

const secret = new Uint8Array(32).fill(7);
const text = new TextEncoder().encode("task-1");

Deno.test("a sealed box is opened by whom it was sealed for, and by nobody else", () => {
  const sealed = seal(text, x25519.getPublicKey(secret));
  assert.deepEqual(openSealedBox(sealed, secret), text);
  assert.equal(openSealedBox(sealed, new Uint8Array(32).fill(8)), undefined);
});

Deno.test("a sealed box with any bit changed is not opened", () => {
  const sealed = seal(text, x25519.getPublicKey(secret));
  for (let i = 0; i < sealed.length; i++) {
    const changed = sealed.slice();
    changed[i]! ^= 1;
    assert.equal(openSealedBox(changed, secret), undefined, `byte ${i}`);
  }
});

Deno.test("a sealed box that is too short, or has a sender that agrees on nothing, is not opened", () => {
  const sealed = seal(text, x25519.getPublicKey(secret));
  for (const length of [0, 31, 47]) assert.equal(openSealedBox(sealed.subarray(0, length), secret), undefined);
  assert.equal(openSealedBox(new Uint8Array(60), secret), undefined);
  assert.deepEqual(openSealedBox(seal(new Uint8Array(), x25519.getPublicKey(secret)), secret), new Uint8Array());
});

Deno.test("the parts of a box are those of NaCl: HSalsa20, XSalsa20-Poly1305 and BLAKE2b give its published results", () => {
  // From the paper "Cryptography in NaCl": Alice's and Bob's first key, and the box with its nonce.
  const shared = Uint8Array.fromHex("4a5d9d5ba4ce2de1728e3bf480350f25e07e21c947d19e3376f09b3c1e161742");
  const first = new Uint32Array(8);
  const sigma = new Uint32Array(new TextEncoder().encode("expand 32-byte k").buffer);
  hsalsa(sigma, new Uint32Array(shared.slice().buffer), new Uint32Array(4), first);
  const key = new Uint8Array(first.buffer);
  assert.equal(key.toHex(), "1b27556473e985d462cd51197a9a46c76009549eac6474f206c4ee0844f68389");
  const nonce = Uint8Array.fromHex("69696ee955b62b73cd62bda875fc73d68219e0036b7a0b37");
  const box = xsalsa20poly1305(key, nonce).encrypt(Uint8Array.fromHex("be075fc53c81f2d5cf141316ebeb0c7b"));
  assert.equal(box.subarray(16).toHex(), "8e993b9f48681273c29650ba32fc76ce");
  // RFC 7693, appendix A.
  assert.equal(
    blake2b(new TextEncoder().encode("abc")).toHex().slice(0, 32),
    "ba80a53f981c4d0d6a2797b69f12f6e9",
  );
});
