import assert from "node:assert/strict";
import type { CredentialChoice } from "../../../lib/relay/credentials/choose.ts";
import { accountClaim, unsignedJwt } from "./tokens.ts";
import { World } from "./world_rig.ts";

const NOTHING = "remote exec-server registration requires ChatGPT authentication or API key authentication; " +
  "run `codex login` or set CODEX_API_KEY";
const ENVIRONMENT: CredentialChoice = { kind: "environment", trusted: [] };

Deno.test("what the command line asks for wins over the environment", async () => {
  const choices: [CredentialChoice, string][] = [
    [{ kind: "bearerLine" }, "my-bearer\n"],
    [
      { kind: "executorCredential" },
      '{"version":1,"environment_id":"env-x","token":"my-bearer","expires_at":1800000001}\n',
    ],
  ];
  for (const [choice, stdin] of choices) {
    await using world = await World.create(stdin);
    world.env["CODEX_API_KEY"] = "sk-1";
    assert.deepEqual(await world.headers(choice), { authorization: "Bearer my-bearer" });
  }
});

Deno.test("a bearer file and a ChatGPT token are found where the choice says", async () => {
  await using world = await World.create(`${unsignedJwt(accountClaim("acc-1"))}\n`);
  world.registry = "https://registry.example.com";
  const path = `${world.home}/token`;
  await Deno.writeTextFile(path, "tok-1", { mode: 0o600 });
  assert.deepEqual(await world.headers({ kind: "bearerFile", path }), { authorization: "Bearer tok-1" });
  const shown = await world.headers({ kind: "chatGptToken", accountId: "acc-1" });
  assert.equal(shown["chatgpt-account-id"], "acc-1");
});

Deno.test("what an operator hands over for one environment is never repeated by an error", async () => {
  const frame = '{"version":1,"environment_id":"env-x","token":"a","expires_at":1800000001}\n';
  for (const [choice, stdin] of [["bearerLine", "a\n"], ["executorCredential", frame]] as const) {
    await using world = await World.create(stdin);
    assert.equal((await world.choose({ kind: choice })).credential.hidesErrorBodies, true, choice);
  }
  await using world = await World.create();
  const path = `${world.home}/token`;
  await Deno.writeTextFile(path, "a", { mode: 0o600 });
  assert.equal((await world.choose({ kind: "bearerFile", path })).credential.hidesErrorBodies, true);
});

Deno.test("only a credential pipe is a life line", async () => {
  await using world = await World.create(
    '{"version":1,"environment_id":"env-x","token":"a","expires_at":1800000001}\n',
  );
  const { ended } = await world.choose({ kind: "executorCredential" });
  world.stdin.close();
  await ended;
  await using other = await World.create("my-bearer\n");
  assert.equal((await other.choose({ kind: "bearerLine" })).ended, undefined);
});

Deno.test("CODEX_API_KEY, trimmed, wins over the sign-in file", async () => {
  await using world = await World.create();
  world.env["CODEX_API_KEY"] = " sk-1\n";
  await world.writeAuthFile({ OPENAI_API_KEY: "sk-2" });
  assert.deepEqual(await world.headers(ENVIRONMENT), { authorization: "Bearer sk-1" });
});

Deno.test("the sign-in file is that of CODEX_HOME, else that of the home directory", async () => {
  await using world = await World.create();
  await world.writeAuthFile({ OPENAI_API_KEY: "sk-home" });
  assert.deepEqual(await world.headers(ENVIRONMENT), { authorization: "Bearer sk-home" });
  world.env["CODEX_HOME"] = `${world.home}/other`;
  await world.writeAuthFile({ OPENAI_API_KEY: "sk-codex" }, `${world.home}/other`);
  assert.deepEqual(await world.headers(ENVIRONMENT), { authorization: "Bearer sk-codex" });
});

Deno.test("the mode of the sign-in file decides; without one a key wins over a sign-in", async () => {
  const tokens = { access_token: "access", refresh_token: "refresh", account_id: "acc-1" };
  const signIn = { "authorization": "Bearer access", "chatgpt-account-id": "acc-1" };
  const key = { authorization: "Bearer sk-1" };
  const cases: [Record<string, unknown>, Record<string, string> | undefined][] = [
    [{ OPENAI_API_KEY: "sk-1", tokens }, key],
    [{ OPENAI_API_KEY: "sk-1", tokens, auth_mode: null }, key],
    [{ OPENAI_API_KEY: "sk-1", tokens, auth_mode: "apikey" }, key],
    [{ OPENAI_API_KEY: "sk-1", tokens, auth_mode: "chatgpt" }, signIn],
    [{ OPENAI_API_KEY: null, tokens }, signIn],
    [{ tokens, auth_mode: "chatgpt" }, signIn],
    [{ tokens, auth_mode: "apikey" }, undefined],
    [{ OPENAI_API_KEY: "sk-1", auth_mode: "chatgpt" }, undefined],
    [{ OPENAI_API_KEY: "sk-1", tokens, auth_mode: "agentIdentity" }, undefined],
    [{ OPENAI_API_KEY: " ", auth_mode: "apikey" }, undefined],
    [{ tokens: {} }, undefined],
    [{ tokens: { access_token: "a b" } }, undefined],
    [{ tokens: { access_token: "a", account_id: "b\nc" } }, undefined],
    [{}, undefined],
  ];
  for (const [file, headers] of cases) {
    await using world = await World.create();
    await world.writeAuthFile(file);
    if (headers === undefined) {
      await assert.rejects(world.headers(ENVIRONMENT), { message: NOTHING }, JSON.stringify(file));
    } else assert.deepEqual(await world.headers(ENVIRONMENT), headers, JSON.stringify(file));
  }
});

Deno.test("without any credential it is said what is needed, and nothing is requested", async () => {
  await using world = await World.create();
  const failure = { name: "CredentialError", message: NOTHING, transient: false };
  await assert.rejects(world.headers(ENVIRONMENT), failure);
  world.env["OPENAI_API_KEY"] = "sk-1";
  world.env["CODEX_API_KEY"] = " ";
  await assert.rejects(world.headers(ENVIRONMENT), failure);
  world.env["HOME"] = undefined;
  await assert.rejects(world.headers(ENVIRONMENT), failure);
  assert.deepEqual(world.requested, []);
});

Deno.test("a sign-in file that cannot be used is named", async () => {
  await using world = await World.create();
  await world.writeAuthFile("[1]");
  const path = `${world.home}/.codex/auth.json`;
  await assert.rejects(world.headers(ENVIRONMENT), {
    message: `${NOTHING} (cannot use ${path}: it does not hold a JSON object)`,
  });
});

Deno.test("an API key goes to trusted registries only, from the file as well; other credentials go anywhere", async () => {
  await using world = await World.create("my-bearer\n");
  world.registry = "https://registry.example.com";
  world.env["CODEX_API_KEY"] = "sk-1";
  const restricted = { message: /^remote exec-server API-key authentication is restricted to HTTPS/ };
  await assert.rejects(world.headers(ENVIRONMENT), restricted);
  await world.headers({ kind: "environment", trusted: ["REGISTRY.example.com"] });
  world.env["CODEX_API_KEY"] = undefined;
  await world.writeAuthFile({ OPENAI_API_KEY: "sk-1" });
  await assert.rejects(world.headers(ENVIRONMENT), restricted);
  await world.writeAuthFile({ tokens: { access_token: "access" } });
  assert.deepEqual(await world.headers(ENVIRONMENT), { authorization: "Bearer access" });
  assert.deepEqual(await world.headers({ kind: "bearerLine" }), { authorization: "Bearer my-bearer" });
});

Deno.test("a trusted registry that is no host is refused before anything else", async () => {
  await using world = await World.create();
  await assert.rejects(world.headers({ kind: "environment", trusted: ["https://example.com"] }), {
    name: "CredentialError",
    message: /^--trust-registry https:\/\/example.com: a host name or an IP address is expected/,
  });
});

Deno.test("a sign-in is refreshed where the variable says, and written back to the file", async () => {
  await using world = await World.create();
  const exp = world.nowMs / 1000 - 1;
  await world.writeAuthFile({
    auth_mode: "chatgpt",
    tokens: { access_token: unsignedJwt({ exp }), refresh_token: "r1" },
  });
  world.env["CODEX_REFRESH_TOKEN_URL_OVERRIDE"] = "http://127.0.0.1:8/token";
  world.answer = () => Response.json({ access_token: "new", refresh_token: "r2" });
  assert.deepEqual(await world.headers(ENVIRONMENT), { authorization: "Bearer new" });
  assert.deepEqual(world.requested, ["http://127.0.0.1:8/token"]);
  const path = `${world.home}/.codex/auth.json`;
  assert.deepEqual(JSON.parse(await Deno.readTextFile(path)).tokens, { access_token: "new", refresh_token: "r2" });
  assert.equal((await Deno.stat(path)).mode! & 0o777, 0o600);
});

Deno.test("without the variable a sign-in is refreshed at the vendor's address", async () => {
  await using world = await World.create();
  const exp = world.nowMs / 1000 + 1;
  await world.writeAuthFile({ tokens: { access_token: unsignedJwt({ exp }), refresh_token: "r1" } });
  await world.headers(ENVIRONMENT);
  assert.deepEqual(world.requested, ["https://auth.openai.com/oauth/token"]);
  world.env["CODEX_REFRESH_TOKEN_URL_OVERRIDE"] = "nope";
  await assert.rejects(world.headers(ENVIRONMENT), {
    message: "CODEX_REFRESH_TOKEN_URL_OVERRIDE must be an http:// or https:// URL",
  });
});

Deno.test("an agent identity is only taken where it is asked for", async () => {
  await using world = await World.create();
  await assert.rejects(world.headers({ kind: "agentIdentity", trusted: [] }), {
    message: "CODEX_ACCESS_TOKEN is required when --use-agent-identity-auth is set",
  });
  world.env["CODEX_ACCESS_TOKEN"] = unsignedJwt({});
  await assert.rejects(world.headers(ENVIRONMENT), { message: NOTHING });
  await assert.rejects(world.headers({ kind: "agentIdentity", trusted: [] }), {
    message: "Agent Identity authentication is unavailable: the keys of its issuer were answered with status 500",
  });
  assert.deepEqual(world.requested, ["https://chatgpt.com/backend-api/wham/agent-identities/jwks"]);
});
