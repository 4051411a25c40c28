import assert from "node:assert/strict";
import { decodePublicKeys } from "../../../lib/relay/noise/public_key_json.ts";
import { answered, CONNECTED, harness, KEYS, REGISTERED, registryOf, signal } from "../registry_rig.ts";

Deno.test("a harness gets its bundle with the request of the reference", async () => {
  const { registry, requests } = registryOf([answered(CONNECTED)], { environmentId: "env-vector" });
  const keys = decodePublicKeys(harness.connect.body["harness_public_key"]);
  assert.deepEqual(await registry.connect(keys, { signal }), {
    registrationId: "reg-1",
    url: REGISTERED.url,
    authorization: "authorization-1",
    executor: KEYS,
  });
  assert.equal(requests[0]!.url, "http://127.0.0.1:1/cloud/environment/env-vector/connect");
  assert.deepEqual(requests[0]!.body, harness.connect.body);
});

Deno.test("an unusable bundle is refused", async () => {
  const message = async (changes: object) => {
    const { registry } = registryOf([answered({ ...CONNECTED, ...changes })]);
    return await registry.connect(KEYS, { signal }).then(() => assert.fail(), ({ message, retryable }) => {
      assert.equal(retryable, false);
      return message;
    });
  };
  const protocol = "exec-server protocol error: ";
  const incomplete = `${protocol}environment registry returned incomplete Noise connection data`;
  for (const name of ["url", "executor_registration_id", "harness_key_authorization"]) {
    assert.equal(await message({ [name]: " \n" }), incomplete);
  }
  const key = CONNECTED.executor_public_key as object;
  assert.equal(
    await message({ environment_id: "x" }),
    `${protocol}environment registry returned a different environment id`,
  );
  assert.equal(
    await message({ security_profile: "x" }),
    `${protocol}environment registry returned unsupported security profile \`x\``,
  );
  assert.equal(
    await message({ executor_public_key: { ...key, suite: "x" } }),
    `${protocol}invalid Noise channel public key: unsupported Noise channel suite`,
  );
  assert.match(await message({ executor_public_key: undefined }), /: missing field `executor_public_key` at line 1/);
  assert.equal(
    await message({ url: "https://h" }),
    `${protocol}environment registry returned an unusable rendezvous URL`,
  );
});

Deno.test("a harness asks again where that may help", async () => {
  const retryable = async (answer: Response | Error) => {
    const { registry } = registryOf([answer]);
    return await registry.connect(KEYS, { signal }).then(() => assert.fail(), (error) => error.retryable);
  };
  for (const status of [408, 429, 500, 502, 503, 599]) {
    assert.equal(await retryable(answered("", status)), true, `${status}`);
  }
  for (const status of [302, 400, 401, 403, 404, 409, 410]) {
    assert.equal(await retryable(answered("", status)), false, `${status}`);
  }
  assert.equal(await retryable(answered({ error: { code: "environment_offline" } }, 409)), true);
  assert.equal(await retryable(answered({ error: { code: "environment_offline" } }, 404)), false);
  assert.equal(await retryable(new TypeError("connection refused")), true);
  assert.equal(await retryable(answered("nope")), false);
});
