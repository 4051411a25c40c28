import assert from "node:assert/strict";
import { verifyAgentJwt } from "../../../lib/relay/credentials/agent_jwt.ts";
import { agentClaims, AgentIssuer } from "./agent_issuer.ts";
import { base64Url, part } from "./tokens.ts";

const NOW_S = 1_800_000_000;
const issuer = await AgentIssuer.create();

function refused(token: string, message: string | RegExp, jwks: Record<string, unknown> = issuer.jwks): Promise<void> {
  return assert.rejects(verifyAgentJwt(token, jwks, NOW_S), { name: "BadAgentJwt", message });
}

Deno.test("an agent's token that its issuer has signed says who the agent is", async () => {
  assert.deepEqual(await verifyAgentJwt(await issuer.token(agentClaims(NOW_S)), issuer.jwks, NOW_S), {
    runtimeId: "runtime-1",
    privateKey: agentClaims(NOW_S)["agent_private_key"],
    accountId: "acc-1",
    isFedRamp: false,
  });
  const several = { ...agentClaims(NOW_S), aud: ["other", "codex-app-server"] };
  await verifyAgentJwt(await issuer.token(several), issuer.jwks, NOW_S);
});

Deno.test("a token that somebody else has signed, or that was changed, is refused", async () => {
  const message = "the signature of CODEX_ACCESS_TOKEN is not its issuer's";
  const other = await AgentIssuer.create();
  await refused(await other.token(agentClaims(NOW_S)), message);
  const [header, , signature] = (await issuer.token(agentClaims(NOW_S))).split(".");
  await refused(`${header}.${part({ ...agentClaims(NOW_S), account_id: "acc-2" })}.${signature}`, message);
  await refused(`${header}.${part(agentClaims(NOW_S))}.`, message);
});

Deno.test("a token is refused unless it is signed with RS256 and a key that its issuer names", async () => {
  const claims = agentClaims(NOW_S);
  const unnamed = "CODEX_ACCESS_TOKEN is not signed with RS256 and a named key";
  for (const header of [{ alg: "none", kid: "key-1" }, { alg: "HS256", kid: "key-1" }, { alg: "RS256" }, []]) {
    await refused(await issuer.token(claims, header as Record<string, unknown>), unnamed);
  }
  // A shared secret made of the public key, as careless verifiers have taken it.
  const secret = new TextEncoder().encode(JSON.stringify(issuer.jwk));
  const key = await crypto.subtle.importKey("raw", secret, { name: "HMAC", hash: "SHA-256" }, false, ["sign"]);
  const signed = `${part({ alg: "HS256", kid: "key-1" })}.${part(claims)}`;
  const mac = new Uint8Array(await crypto.subtle.sign("HMAC", key, new TextEncoder().encode(signed)));
  await refused(`${signed}.${base64Url(mac)}`, unnamed);

  const token = await issuer.token(claims);
  const unknown = "the key that signed CODEX_ACCESS_TOKEN is not its issuer's";
  await refused(await issuer.token(claims, { alg: "RS256", kid: "other-key" }), unknown);
  for (const jwks of [{}, { keys: {} }, { keys: [null, 1, "key-1"] }]) await refused(token, unknown, jwks);
  const unfit = "the key that signed CODEX_ACCESS_TOKEN is not an RSA key of 2048 bits for signatures";
  for (
    const change of [{ kty: "EC" }, { alg: "RS512" }, { use: "enc" }, { n: undefined }, { e: undefined }, { n: "!" }]
  ) {
    await refused(token, unfit, { keys: [{ ...issuer.jwk, ...change }] });
  }
  const short = await AgentIssuer.create("key-1", 1024);
  await refused(await short.token(claims), unfit, short.jwks);
});

Deno.test("a token is refused that is not meant for this, or no longer, or lacks a claim", async () => {
  const without = async (name: string) => await issuer.token({ ...agentClaims(NOW_S), [name]: undefined });
  const withClaim = async (name: string, value: unknown) =>
    await issuer.token({ ...agentClaims(NOW_S), [name]: value });
  const wrong = "CODEX_ACCESS_TOKEN is not an Agent Identity token";
  for (
    const token of [
      await without("iss"),
      await without("aud"),
      await withClaim("aud", "x"),
      await withClaim("iss", "x"),
    ]
  ) {
    await refused(token, wrong);
  }
  const expired = "CODEX_ACCESS_TOKEN has expired";
  for (const token of [await without("exp"), await withClaim("exp", NOW_S - 61), await withClaim("exp", "9e9")]) {
    await refused(token, expired);
  }
  await verifyAgentJwt(await withClaim("exp", NOW_S - 60), issuer.jwks, NOW_S);
  for (const name of ["agent_runtime_id", "agent_private_key", "account_id"]) {
    await refused(await without(name), `CODEX_ACCESS_TOKEN has no claim ${name}`);
  }
});

Deno.test("what is no JWT is refused", async () => {
  for (const text of ["", "a", "a.b", "a.b.c.d", "!.b.c"]) await refused(text, "CODEX_ACCESS_TOKEN is not a JWT");
});
