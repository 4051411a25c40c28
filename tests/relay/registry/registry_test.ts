import assert from "node:assert/strict";
import { type Credential, CredentialError } from "../../../lib/relay/credential.ts";
import {
  answered,
  API_KEY,
  BEARER,
  executor,
  HARNESS_KEYS,
  KEYS,
  type RecordedRequest,
  REGISTERED,
  registryOf,
  type Requested,
  signal,
} from "../registry_rig.ts";
import { loadVectors } from "../vectors/load.ts";

Deno.test("an executor registers with the request of the reference", async () => {
  const { registry, requests } = registryOf([answered({ ...REGISTERED, more: [1] }, 201)]);
  assert.deepEqual(await registry.register(KEYS, signal), { registrationId: "reg-1", url: REGISTERED.url });
  const [{ url, headers, body }] = requests as [Requested];
  assert.equal(url, `http://127.0.0.1:1${executor.register.target}`);
  assert.deepEqual(body, executor.register.body);
  for (const [name, value] of executor.register.headers) {
    if (!["host", "accept-encoding", "content-length"].includes(name)) assert.equal(headers[name], value);
  }
});

Deno.test("the failures of a registration are told as the reference tells them", async () => {
  const { terminal } = loadVectors<{ terminal: { status: number | null; body: string; stderr: string }[] }>(
    "registration-errors.json",
  );
  const { executor_registration_id: _, ...withoutId } = { ...REGISTERED, url: "" };
  withoutId.url = "w".repeat(111 - JSON.stringify(withoutId).length);
  const bodies: Record<string, unknown> = {
    "{... without executor_registration_id}": withoutId,
    "{... environment_id of another environment}": { ...REGISTERED, environment_id: "other" },
    "{... security_profile plain}": { ...REGISTERED, security_profile: "plain" },
  };
  assert.equal(terminal.length, 17);
  for (const { status, body, stderr } of terminal) {
    if (status === null) continue;
    const { registry } = registryOf([answered(bodies[body] ?? body, status)]);
    await assert.rejects(
      registry.register(KEYS, signal),
      { name: "RegistryError", message: stderr, retry: undefined },
      stderr,
    );
  }
});

Deno.test("a registration is worth another attempt only where nothing can have been committed", async () => {
  const retried = [
    [503, { error: { code: "registration_conflict", message: "m" } }],
    [503, { detail: { code: "registration_conflict" } }],
    [502, { error: { code: "authentication_service_unavailable" } }],
  ] as const;
  for (const [status, body] of retried) {
    for (const credential of [API_KEY, BEARER]) {
      const { registry } = registryOf([answered(body, status)], { credential });
      const { code } = ("error" in body ? body.error : body.detail) as { code: string };
      await assert.rejects(registry.register(KEYS, signal), { retry: code, status });
    }
  }
  const final = [
    [502, { error: { code: "registration_conflict" } }],
    [503, { error: { code: "authentication_service_unavailable" } }],
    [409, { error: { code: "registration_conflict" } }],
    [503, { error: { message: "registration_conflict" } }],
    [503, {}],
    [429, {}],
  ] as const;
  for (const [status, body] of final) {
    const { registry } = registryOf([answered(body, status)]);
    await assert.rejects(registry.register(KEYS, signal), { kind: "request", retry: undefined, status });
  }
  const { registry } = registryOf([new TypeError("connection refused")]);
  await assert.rejects(registry.register(KEYS, signal), { kind: "request", retry: undefined });
});

Deno.test("a registration without a usable id or URL is refused", async () => {
  const message = "exec-server protocol error: environment registry returned a blank executor registration id";
  const { registry } = registryOf([answered({ ...REGISTERED, executor_registration_id: " " })]);
  await assert.rejects(registry.register(KEYS, signal), { kind: "protocol", message });
  for (const url of ["", "https://h/?secret", "ws://", "ws://h/a secret"]) {
    const { registry } = registryOf([answered({ ...REGISTERED, url })]);
    await assert.rejects(registry.register(KEYS, signal), {
      kind: "protocol",
      message: "exec-server protocol error: environment registry returned an unusable rendezvous URL",
    });
  }
});

Deno.test("what a registry says steers no terminal, has an end, and does not repeat the credential", async () => {
  const message = async (answer: Response) => {
    const { registry } = registryOf([answer]);
    return await registry.register(KEYS, signal).then(() => assert.fail(), ({ message }) => message);
  };
  const steering = answered({ error: { code: "c\x1b", message: "a\x1b[31mb\nc" } }, 409);
  const failed = "environment registry request failed";
  assert.equal(await message(steering), `${failed} (409 Conflict, c\\u{1b}): a\\u{1b}[31mb\\nc`);
  assert.equal(
    (await message(answered("x".repeat(10_000), 500))).length,
    `${failed} (500 Internal Server Error): `.length + 4096,
  );
  const echo = answered('"Bearer test-api-key is wrong"', 500);
  assert.equal(await message(echo), `${failed} (500 Internal Server Error): "Bearer [credential] is wrong"`);
  const { registry: coded } = registryOf([answered({ error: { code: "test-api-key" } }, 409)]);
  await assert.rejects(coded.register(KEYS, signal), {
    message: `${failed} (409 Conflict, [credential]): {"error":{"code":"[credential]"}}`,
    code: undefined,
  });
  const short = { headers: () => Promise.resolve({ authorization: "Bearer e" }) };
  const { registry } = registryOf([answered("seen", 500)], { credential: short });
  await assert.rejects(registry.register(KEYS, signal), { message: `${failed} (500 Internal Server Error): seen` });
  const profile = answered({ ...REGISTERED, security_profile: "\x1b[2J" });
  assert.match(await message(profile), /unsupported security profile `\\u\{1b\}\[2J`$/);
  const echoed = answered({ ...REGISTERED, security_profile: "test-api-key" });
  assert.match(await message(echoed), /unsupported security profile `\[credential\]`$/);
  assert.equal((await message(answered('{"\x07":1'))).includes("\x07"), false);
  assert.match(await message(answered(`{"${"\\u001b"}":1,"${"\\u001b"}":1}`)), /duplicate JSON object key `\\u\{1b\}`/);
});

Deno.test("where bodies are hidden, nothing of an answer is told", async () => {
  const failures: [Response, string][] = [
    [
      answered({ error: { code: "secret", message: "secret" } }, 401),
      "environment registry authentication error: environment registry authentication failed (401 Unauthorized): response body omitted",
    ],
    [
      answered("", 403),
      "environment registry authentication error: environment registry authentication failed (403 Forbidden): response body omitted",
    ],
    [
      answered({ error: { code: "secret", message: "secret" } }, 409),
      "environment registry request failed (409 Conflict): environment registry executor registration failed",
    ],
    [answered("secret"), "exec-server protocol error: invalid environment registry executor registration response"],
    [
      answered({ secret: 1 }),
      "exec-server protocol error: invalid environment registry executor registration response",
    ],
    // The rendezvous would be shown the credential.
    ...[
      answered({ ...REGISTERED, url: "ws://127.0.0.1:1/?token=test-api-key" }),
      answered(JSON.stringify({ ...REGISTERED, url: "ws://127.0.0.1:1/?test-api-key" }).replace("api", "\\u0061pi")),
      answered({ ...REGISTERED, more: "test-api-key" }),
    ].map((answer): [Response, string] => [
      answer,
      "exec-server protocol error: invalid environment registry executor registration response",
    ]),
  ];
  for (const [answer, message] of failures) {
    const { registry } = registryOf([answer], { credential: BEARER });
    await assert.rejects(registry.register(KEYS, signal), { message });
  }
  const { registry } = registryOf([answered(REGISTERED)], { credential: BEARER });
  assert.equal((await registry.register(KEYS, signal)).registrationId, "reg-1");
});

Deno.test("where bodies are hidden, a registry elsewhere is not spoken to in the clear", () => {
  const message =
    "environment registry configuration error: remote transport requires https for non-loopback endpoints";
  assert.throws(() => registryOf([], { credential: BEARER, url: "http://registry.example" }), { message });
  registryOf([], { credential: BEARER, url: "https://registry.example" });
  registryOf([], { credential: API_KEY, url: "http://registry.example" });
});

Deno.test("a credential that the registry does not take is renewed once", async () => {
  const shown: string[] = [];
  let token = 1;
  const credential: Credential = {
    headers: () => Promise.resolve({ authorization: `Bearer secret-${token}` }),
    renew: (refused) => {
      shown.push(refused["authorization"]!);
      token++;
      return Promise.resolve(true);
    },
  };
  const twice = registryOf([answered("", 401), answered(REGISTERED)], { credential });
  await twice.registry.register(KEYS, signal);
  assert.deepEqual(twice.requests.map(({ headers }) => headers["authorization"]), [
    "Bearer secret-1",
    "Bearer secret-2",
  ]);
  const never = registryOf([answered("", 401), answered("secret-3 is wrong", 401)], { credential });
  await assert.rejects(never.registry.register(KEYS, signal), {
    status: 401,
    message: /: \[credential\] is wrong$/,
  });
  assert.deepEqual(shown, ["Bearer secret-1", "Bearer secret-2"]);
  const stubborn = registryOf([answered("", 401)], { credential: { ...API_KEY, renew: () => Promise.resolve(false) } });
  await assert.rejects(stubborn.registry.register(KEYS, signal), { status: 401 });
});

Deno.test("without a credential nothing is requested", async () => {
  for (const transient of [false, true]) {
    const error = new CredentialError("exec-server executor credential is expired", transient);
    const { registry, requests } = registryOf([], { credential: { headers: () => Promise.reject(error) } });
    await assert.rejects(registry.register(KEYS, signal), {
      kind: "authentication",
      retry: transient ? "credential unavailable" : undefined,
      message: "environment registry authentication error: failed to resolve environment registry authentication: " +
        "request auth build error: exec-server executor credential is expired",
    });
    const request = { harness: HARNESS_KEYS, authorization: "a", streamId: "s" };
    await assert.rejects(registry.validate("reg-1", request, signal), error);
    assert.deepEqual(requests, []);
  }
});

Deno.test("a harness is validated with the request of the reference", async () => {
  const [recorded] = executor.validate as [RecordedRequest];
  const request = {
    harness: HARNESS_KEYS,
    authorization: String(recorded.body["harness_key_authorization"]),
    streamId: "0B8F6A1E-5D3C-4F7A-8E21-9C0D1E2F3A4B",
  };
  const { registry, requests } = registryOf([answered({ valid: true }), answered({ valid: true })]);
  assert.equal(await registry.validate(String(recorded.body["executor_registration_id"]), request, signal), "valid");
  await registry.validate("reg-1", { ...request, streamId: "no\nuuid" }, signal);
  const [{ url, headers, body }, other] = requests as [Requested, Requested];
  assert.equal(url, `http://127.0.0.1:1${recorded.target}`);
  assert.deepEqual(body, recorded.body);
  for (const [name, value] of recorded.headers) {
    if (!["host", "accept-encoding", "content-length"].includes(name)) assert.equal(headers[name], value);
  }
  assert.equal(other.headers["x-codex-noise-stream-id"], undefined);
});

Deno.test("whatever else a registry answers to a validation is no", async () => {
  const request = { harness: HARNESS_KEYS, authorization: "a", streamId: "s" };
  const verdict = async (answer: Response) => await registryOf([answer]).registry.validate("reg-1", request, signal);
  const noes = [answered({ valid: false }), answered({}), answered("nope"), answered("", 204)];
  for (const status of [302, 400, 403, 404, 429, 500, 503]) noes.push(answered({ valid: true }, status));
  for (const no of noes) assert.equal(await verdict(no), "denied");
  assert.equal(await verdict(answered({ valid: true }, 401)), "credentialsRejected");
  assert.equal(await verdict(answered({ valid: true }, 299)), "valid");
});
