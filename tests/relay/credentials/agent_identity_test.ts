import assert from "node:assert/strict";
import { ed25519 } from "@noble/curves/ed25519.js";
import { waitingClock } from "../../../lib/clock.ts";
import { agentIdentity, type AgentIdentityOptions, jwksUrl } from "../../../lib/relay/credentials/agent_identity.ts";
import { agentClaims, AgentIssuer } from "./agent_issuer.ts";

const NOW_S = 1_800_000_000;
const TIMESTAMP = "2027-01-15T08:00:00Z";
const PUBLIC = ed25519.getPublicKey(new Uint8Array(32).fill(7));
/** For the key of `agentClaims`, by libsodium. */
const SEALED = "DOGO7S0BkIUEpSdd2XloVGe/1yYXijAw41jA8TydWxgxVAiRKVRwum/TSq3IeTx5tmrc85bdRAl3LHxplQ==";
const signal = new AbortController().signal;
const issuer = await AgentIssuer.create();

/** An issuer and a task service on loopback. */
class Services implements AsyncDisposable {
  readonly tasks: { readonly path: string; readonly body: Record<string, string> }[] = [];
  nowMs = NOW_S * 1000;
  keys: () => Response = () => Response.json(issuer.jwks);
  task: () => Response = () => Response.json({ task_id: "task-1", more: true });
  readonly #server = Deno.serve({ hostname: "127.0.0.1", port: 0, onListen() {} }, (request) => this.#answer(request));

  get base(): string {
    return `http://127.0.0.1:${this.#server.addr.port}`;
  }

  async identity(others: Partial<AgentIdentityOptions> = {}) {
    return await agentIdentity({
      token: await issuer.token(agentClaims(NOW_S)),
      registryUrl: "http://127.0.0.1:9",
      trusted: [],
      network: { fetch, clock: waitingClock },
      now: () => this.nowMs,
      services: { jwksUrl: `${this.base}/jwks`, authBase: `${this.base}/accounts` },
      ...others,
    });
  }

  async #answer(request: Request): Promise<Response> {
    const { pathname } = new URL(request.url);
    if (pathname === "/jwks" && request.method === "GET") return this.keys();
    this.tasks.push({ path: `${request.method} ${pathname}`, body: await request.json() });
    return this.task();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#server.shutdown();
  }
}

function isSigned(text: string, signature: string): boolean {
  return ed25519.verify(Uint8Array.fromBase64(signature), new TextEncoder().encode(text), PUBLIC);
}

function assertion(headers: Readonly<Record<string, string>>): Record<string, string> {
  const [scheme, value] = headers["authorization"]!.split(" ");
  assert.equal(scheme, "AgentAssertion");
  assert.doesNotMatch(value!, /[+/=]/);
  return JSON.parse(new TextDecoder().decode(Uint8Array.fromBase64(value!, { alphabet: "base64url" })));
}

Deno.test("an agent shows an assertion of its own for each request, of a task that is registered once", async () => {
  await using services = new Services();
  const identity = await services.identity();
  assert.equal(services.tasks.length, 0);
  const [headers, other] = await Promise.all([identity.headers(signal), identity.headers(signal)]);
  assert.deepEqual(headers, other);
  assert.equal(headers["chatgpt-account-id"], "acc-1");
  const { signature, ...members } = assertion(headers);
  assert.deepEqual(Object.keys(assertion(headers)), ["agent_runtime_id", "signature", "task_id", "timestamp"]);
  assert.deepEqual(members, { agent_runtime_id: "runtime-1", task_id: "task-1", timestamp: TIMESTAMP });
  assert.ok(isSigned(`runtime-1:task-1:${TIMESTAMP}`, signature!));

  services.nowMs += 61_500;
  const later = assertion(await identity.headers(signal));
  assert.equal(later["timestamp"], "2027-01-15T08:01:01Z");
  assert.ok(isSigned("runtime-1:task-1:2027-01-15T08:01:01Z", later["signature"]!));

  assert.equal(services.tasks.length, 1);
  const [{ path, body }] = services.tasks as [typeof services.tasks[0]];
  assert.equal(path, "POST /accounts/v1/agent/runtime-1/task/register");
  assert.deepEqual(Object.keys(body), ["timestamp", "signature"]);
  assert.ok(isSigned(`runtime-1:${TIMESTAMP}`, body["signature"]!));
});

Deno.test("an agent of the government's service says so", async () => {
  await using services = new Services();
  const token = await issuer.token({ ...agentClaims(NOW_S), chatgpt_account_is_fedramp: true });
  const headers = await (await services.identity({ token })).headers(signal);
  assert.deepEqual(Object.keys(headers), ["authorization", "chatgpt-account-id", "x-openai-fedramp"]);
});

Deno.test("the id of a task may have another name, and may be sealed for the agent", async () => {
  await using services = new Services();
  for (
    const [answer, taskId] of [
      [{ taskId: "task-2" }, "task-2"],
      [{ encrypted_task_id: SEALED }, "task-sealed-1"],
      [{ encryptedTaskId: SEALED }, "task-sealed-1"],
      [{ task_id: null, encryptedTaskId: SEALED }, "task-sealed-1"],
    ] as const
  ) {
    services.task = () => Response.json(answer);
    const identity = await services.identity();
    assert.equal(assertion(await identity.headers(signal))["task_id"], taskId);
  }
});

Deno.test("a task that is not registered is told, and tried again with the next request", async () => {
  await using services = new Services();
  const identity = await services.identity();
  const unreadable = "the answer holds no task id that can be read";
  const changed = `${SEALED.slice(0, 60)}A${SEALED.slice(61)}`;
  const cases: [() => Response, string, boolean][] = [
    [() => new Response("secret", { status: 500 }), "status 500", true],
    [() => new Response("secret", { status: 429 }), "status 429", true],
    [() => new Response("secret", { status: 403 }), "status 403", false],
    [() => new Response("secret"), unreadable, false],
    [() => Response.json({}), unreadable, false],
    [() => Response.json({ encrypted_task_id: "!" }), unreadable, false],
    [() => Response.json({ encrypted_task_id: changed }), unreadable, false],
  ];
  for (const [task, why, transient] of cases) {
    services.task = task;
    await assert.rejects(identity.headers(signal), {
      name: "CredentialError",
      message: `failed to register the agent's task: ${why}`,
      transient,
    });
  }
  services.task = () => Response.json({ task_id: "task-9" });
  assert.equal(assertion(await identity.headers(signal))["task_id"], "task-9");
  assert.equal(services.tasks.length, cases.length + 1);
});

Deno.test("an agent's token is required", async () => {
  await using services = new Services();
  for (const token of [undefined, "", "  "]) {
    await assert.rejects(services.identity({ token }), {
      message: "CODEX_ACCESS_TOKEN is required when --use-agent-identity-auth is set",
    });
  }
});

Deno.test("a token that is none makes the identity unavailable, and no request if it is no JWT", async () => {
  await using services = new Services();
  services.keys = () => {
    throw new Error("asked");
  };
  const unavailable = (why: string) => ({
    name: "CredentialError",
    message: `Agent Identity authentication is unavailable: ${why}`,
  });
  await assert.rejects(services.identity({ token: "x" }), unavailable("CODEX_ACCESS_TOKEN is not a JWT"));
  services.keys = () => Response.json({ keys: [] });
  await assert.rejects(
    services.identity(),
    unavailable("the key that signed CODEX_ACCESS_TOKEN is not its issuer's"),
  );
  services.keys = () => new Response("secret", { status: 503 });
  await assert.rejects(services.identity(), unavailable("the keys of its issuer were answered with status 503"));
  services.keys = () => new Response("secret");
  await assert.rejects(services.identity(), unavailable("the keys of its issuer are not a JSON object"));
  services.keys = () => Response.json(issuer.jwks);
  const badKey = await issuer.token({ ...agentClaims(NOW_S), agent_private_key: "AAAA" });
  await assert.rejects(
    services.identity({ token: badKey }),
    unavailable("agent_private_key of CODEX_ACCESS_TOKEN is not a PKCS#8 Ed25519 key"),
  );
  const badAccount = await issuer.token({ ...agentClaims(NOW_S), account_id: "a\nb" });
  await assert.rejects(
    services.identity({ token: badAccount }),
    unavailable("the account ID of CODEX_ACCESS_TOKEN holds characters that an HTTP header cannot carry"),
  );
});

Deno.test("an issuer that is not there makes the identity unavailable", async () => {
  await using services = new Services();
  const nowhere = { jwksUrl: "http://127.0.0.1:1/?secret", authBase: "http://127.0.0.1:1" };
  await assert.rejects(services.identity({ services: nowhere }), {
    message:
      "Agent Identity authentication is unavailable: the keys of its issuer cannot be had: no connection, or it broke",
  });
});

Deno.test("an agent shows itself to trusted registries only", async () => {
  await using services = new Services();
  const trusted = ["registry.example.com"];
  for (const registryUrl of ["https://chatgpt.com/x", "https://api.openai.com", "https://registry.example.com"]) {
    await services.identity({ registryUrl, trusted });
  }
  for (const registryUrl of ["http://chatgpt.com", "https://example.com", "https://a.registry.example.com"]) {
    await assert.rejects(services.identity({ registryUrl }), { message: /^remote exec-server Agent Identity auth/ });
  }
});

Deno.test("where an issuer's keys are follows from the form of ChatGPT's address", () => {
  assert.equal(
    jwksUrl("https://chatgpt.com/backend-api/"),
    "https://chatgpt.com/backend-api/wham/agent-identities/jwks",
  );
  assert.equal(jwksUrl("http://localhost/api/codex"), "http://localhost/api/codex/agent-identities/jwks");
  assert.equal(jwksUrl("http://localhost"), "http://localhost/api/codex/agent-identities/jwks");
});
