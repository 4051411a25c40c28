import assert from "node:assert/strict";
import { AgentKey } from "../../../lib/relay/credentials/agent_key.ts";

/** The seed is 32 times the byte 7. What libsodium 1.0.20 made of it is below. */
const PKCS8 = "MC4CAQAwBQYDK2VwBCIEIAcHBwcHBwcHBwcHBwcHBwcHBwcHBwcHBwcHBwcHBwcH";
/** Version 2, with the public key, as the reference's library writes it. */
const PKCS8_WITH_PUBLIC = "MFECAQEwBQYDK2VwBCIEIAcHBwcHBwcHBwcHBwcHBwcHBwcHBwcHBwcHBwcHBwcHgSEA" +
  "6kpsY+Kcegq+9VB7EyZ7F8VHeq6+/DcVODOMkZG0nhw=";
const TEXT = "runtime-1:task-1:2027-01-15T08:00:00Z";
const SIGNATURE = "BeJPxOSQ8vj9mp0e3fTyu8w58U2TKN6pVSFtHlhFGYBoPpqYXcX04Nq82J5v2iSWDnNHs9/33v7y5TN1/visAA==";
const SEALED = "DOGO7S0BkIUEpSdd2XloVGe/1yYXijAw41jA8TydWxgxVAiRKVRwum/TSq3IeTx5tmrc85bdRAl3LHxplQ==";

Deno.test("an agent's key signs, and opens what was sealed for it, as libsodium would", async () => {
  for (const pkcs8 of [PKCS8, PKCS8_WITH_PUBLIC]) {
    const key = await AgentKey.fromPkcs8(pkcs8);
    assert.equal(await key.sign(TEXT), SIGNATURE);
    assert.equal(new TextDecoder().decode(key.open(Uint8Array.fromBase64(SEALED))), "task-sealed-1");
  }
});

Deno.test("printing an agent's key shows nothing of it", async () => {
  const key = await AgentKey.fromPkcs8(PKCS8);
  for (const text of [Deno.inspect(key, { depth: 9, showHidden: true }), JSON.stringify(key)]) {
    assert.equal(text.replaceAll(/["[\]]/g, ""), "AgentKey");
  }
});

Deno.test("what is no Ed25519 key is refused", async () => {
  const x25519 = PKCS8.replace("K2Vw", "K2Vu");
  for (const text of ["", "AAAA", "!", PKCS8.slice(0, -4), x25519]) await assert.rejects(AgentKey.fromPkcs8(text));
});
