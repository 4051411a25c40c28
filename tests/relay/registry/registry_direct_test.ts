import assert from "node:assert/strict";
import { CredentialError, type SignedRequest } from "../../../lib/relay/credential.ts";
import { DirectRegistry } from "../../../lib/relay/registry/registry_direct.ts";
import type { Fetch } from "../../../lib/relay/registry/registry_http.ts";

const signal = new AbortController().signal;
const REGISTERED = {
  environment_id: "env-1",
  transport: "direct_jsonrpc_v1",
  registration_id: "reg-1",
  url: "wss://executors.example/rpc?id=1",
};

/** A registry that gives this answer, what it was sent, and what of it was signed. */
function registryOf(
  body: unknown,
  { status = 200, url = "https://registry.example/base/", error }: { status?: number; url?: string; error?: Error } =
    {},
) {
  const sent: { url: string; headers: Record<string, string>; body: string }[] = [];
  const signed: SignedRequest[] = [];
  const fetch: Fetch = (url, { headers, body: bytes }) => {
    const text = new TextDecoder().decode(bytes as Uint8Array<ArrayBuffer>);
    sent.push({ url, headers: headers as Record<string, string>, body: text });
    return Promise.resolve(new Response(typeof body === "string" ? body : JSON.stringify(body), { status }));
  };
  const signer = {
    sign: (request: SignedRequest) => {
      signed.push(request);
      return error === undefined
        ? Promise.resolve({ authorization: "AWS4-HMAC-SHA256 Credential=x" })
        : Promise.reject(error);
    },
  };
  return { registry: new DirectRegistry({ url, environmentId: " env-1 ", signer, fetch }), sent, signed };
}

Deno.test("a direct executor registers with a request that is signed as it is sent", async () => {
  const { registry, sent, signed } = registryOf({ ...REGISTERED, more: 1 });
  assert.deepEqual(await registry.register(signal), { registrationId: "reg-1", url: REGISTERED.url });
  const url = "https://registry.example/base/cloud/environment/env-1/direct/register";
  const body = '{"transport":"direct_jsonrpc_v1"}';
  assert.deepEqual(signed, [{
    method: "POST",
    url,
    headers: { "content-type": "application/json" },
    body: new TextEncoder().encode(body),
  }]);
  const [request] = sent;
  assert.deepEqual({ url: request!.url, body: request!.body }, { url, body });
  assert.equal(request!.headers["authorization"], "AWS4-HMAC-SHA256 Credential=x");
  assert.equal(request!.headers["content-type"], "application/json");
});

Deno.test("a direct registration that is not what was asked for is refused", async () => {
  const failures: [object, string][] = [
    [
      { environment_id: "env-2" },
      "exec-server protocol error: environment registry returned a different environment id",
    ],
    [
      { transport: "x\n" },
      "exec-server protocol error: environment registry returned unsupported direct transport `x\\n`",
    ],
    [
      { transport: "Credential=x" },
      "exec-server protocol error: environment registry returned unsupported direct transport `[credential]`",
    ],
    [
      { registration_id: " " },
      "exec-server protocol error: environment registry returned incomplete direct connection data",
    ],
    [{ url: "" }, "exec-server protocol error: environment registry returned incomplete direct connection data"],
    [
      { url: "ws://executors.example" },
      "environment registry configuration error: remote transport requires wss for non-loopback endpoints",
    ],
    [
      { url: "https://127.0.0.1" },
      "environment registry configuration error: remote transport requires wss for non-loopback endpoints",
    ],
    [
      { url: "nope" },
      "environment registry configuration error: invalid remote endpoint URL: relative URL without a base",
    ],
  ];
  for (const [changes, message] of failures) {
    await assert.rejects(registryOf({ ...REGISTERED, ...changes }).registry.register(signal), {
      message,
      retry: undefined,
    });
  }
  const missing = '{"environment_id":"e1","transport":"direct_jsonrpc_v1","url":"nope"}';
  await assert.rejects(registryOf(missing).registry.register(signal), {
    message: "failed to serialize or deserialize exec-server JSON: missing field `registration_id` at line 1 column 68",
  });
  await assert.rejects(
    registryOf('{"error":{"message":"AWS4-HMAC-SHA256 Credential=x"}}', { status: 503 }).registry.register(signal),
    {
      message: "environment registry request failed (503 Service Unavailable): AWS4-HMAC-SHA256 [credential]",
    },
  );
});

Deno.test("a direct registry elsewhere is not spoken to in the clear", () => {
  const message =
    "environment registry configuration error: remote transport requires https for non-loopback endpoints";
  assert.throws(() => registryOf({}, { url: "http://registry.example" }), { message });
  registryOf({}, { url: "http://localhost:1" });
});

Deno.test("a direct registration that nobody can sign is not sent", async () => {
  const { registry, sent } = registryOf({}, { error: new CredentialError("failed to load AWS credentials: none") });
  await assert.rejects(registry.register(signal), {
    message: "environment registry authentication error: failed to resolve environment registry authentication: " +
      "request auth build error: failed to load AWS credentials: none",
  });
  assert.deepEqual(sent, []);
});
