import assert from "node:assert/strict";
import { awsSigner } from "../../../lib/relay/direct/aws_credentials.ts";
import { sigV4Headers } from "../../../lib/relay/direct/sigv4.ts";
import { runRemoteEnvironment } from "../../../lib/server/remote_environment.ts";
import { ExecServer } from "../../../lib/server/serve.ts";
import { FakeBackend } from "../../support/fake_backend.ts";
import { type Arrival, Destination } from "../support/destination.ts";
import { TestRegistry } from "../support/registry.ts";

// What a server opens on Linux must not be counted as a leak of the test that is the first to have one.
if (Deno.build.os === "linux") await import("../../../lib/fs/linux/system.ts");

const KEYS: Readonly<Record<string, string>> = {
  AWS_ACCESS_KEY_ID: "AKIDEXAMPLE",
  AWS_SECRET_ACCESS_KEY: "secret",
  AWS_SESSION_TOKEN: "session",
  AWS_REGION: "us-east-1",
};

/** An executor of the direct transport, its registry and the service that it connects to, all on loopback. */
class DirectWorld implements AsyncDisposable {
  readonly service = new Destination();
  readonly registry = new TestRegistry({ url: () => `${this.service.url}/stage/direct?token=a%20b+c` });
  readonly stop = new AbortController();
  readonly done: Promise<void>;

  constructor() {
    this.done = this.#run();
    this.done.catch(() => {});
  }

  async #run(): Promise<void> {
    const signer = await awsSigner({
      service: "execute-api",
      env: (name) => KEYS[name],
      now: Date.now,
      library: () => Promise.reject(new Error("the library was loaded")),
    });
    using server = await ExecServer.create({ backend: Object.assign(new FakeBackend(), { [Symbol.dispose]() {} }) });
    const { registry: { url: registry }, stop: { signal } } = this;
    await runRemoteEnvironment({ registry, environmentId: "env-1", signer, signal, server });
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.stop.abort(new Error("stopped by the test"));
    await this.done.catch(() => {});
    await this.service[Symbol.asyncDispose]();
    await this.registry[Symbol.asyncDispose]();
  }
}

/** The `count`th message from the executor, counted from 1. */
async function answer(world: DirectWorld, arrival: Arrival, count: number) {
  const text = await world.service.until(`answer ${count}`, () => arrival.texts[count - 1]);
  return JSON.parse(text);
}

function initialize(id: number, resumeSessionId?: string): string {
  const params = { clientName: "direct-test", ...(resumeSessionId === undefined ? {} : { resumeSessionId }) };
  return JSON.stringify({ id, method: "initialize", params });
}

/** What the signature of a request has to be. */
async function signatureOf(
  method: "GET" | "POST",
  url: string,
  got: Readonly<Record<string, string>>,
  headers: Readonly<Record<string, string>>,
  body: string,
): Promise<string> {
  const at = new Date(got["x-amz-date"]!.replace(/^(....)(..)(..)T(..)(..)(..)Z$/, "$1-$2-$3T$4:$5:$6Z"));
  const credentials = { accessKeyId: "AKIDEXAMPLE", secretAccessKey: "secret", sessionToken: "session" };
  const request = { method, url, headers, body: new TextEncoder().encode(body) };
  const signed = await sigV4Headers(request, credentials, { region: "us-east-1", service: "execute-api" }, at);
  return signed["authorization"]!;
}

Deno.test("registration and upgrade are signed as they arrive", async () => {
  await using world = new DirectWorld();
  const { headers, text } = await world.registry.asked("direct/register");
  assert.equal(text, '{"transport":"direct_jsonrpc_v1"}');
  const url = `${world.registry.url}/cloud/environment/env-1/direct/register`;
  const json = { "content-type": "application/json" };
  assert.equal(headers["authorization"], await signatureOf("POST", url, headers, json, text));
  assert.match(headers["authorization"]!, /SignedHeaders=content-type;host;x-amz-date;x-amz-security-token,/);

  const { upgrade } = await world.service.arrived();
  assert.equal(upgrade.target, "/stage/direct?token=a%20b+c");
  assert.equal(upgrade.headers["x-amz-security-token"], "session");
  assert.equal(
    upgrade.headers["authorization"],
    await signatureOf("GET", world.service.url + upgrade.target, upgrade.headers, {}, ""),
  );
  assert.match(upgrade.headers["authorization"]!, /SignedHeaders=host;x-amz-date;x-amz-security-token,/);
});

Deno.test("text and binary messages are answered, by text messages", async () => {
  await using world = new DirectWorld();
  const arrival = await world.service.arrived();
  arrival.socket.sendText(initialize(1));
  assert.equal((await answer(world, arrival, 1)).id, 1);
  arrival.socket.send(new TextEncoder().encode('{"id":2,"method":"environment/info"}'));
  assert.equal((await answer(world, arrival, 2)).id, 2);
  assert.deepEqual(arrival.binary, []);
});

Deno.test("a message may have 64 MiB; a larger one ends the connection, and there is another", async () => {
  await using world = new DirectWorld();
  const arrival = await world.service.arrived();
  arrival.socket.sendText(initialize(1));
  await answer(world, arrival, 1);
  const whole = new Uint8Array(64 * 1024 * 1024).fill(0x20);
  whole.set(new TextEncoder().encode('{"id":2,"method":"environment/info"}'));
  arrival.socket.send(whole);
  assert.equal((await answer(world, arrival, 2)).id, 2);
  arrival.socket.send(new Uint8Array(64 * 1024 * 1024 + 1));
  await arrival.socket.ended;
  await world.service.arrived(2);
});

Deno.test("a lost connection is replaced with the same registration, and the session is resumed", async () => {
  await using world = new DirectWorld();
  const first = await world.service.arrived();
  first.socket.sendText(initialize(1));
  const { result: { sessionId } } = await answer(world, first, 1);
  first.socket.cut();
  const second = await world.service.arrived(2);
  second.socket.sendText(initialize(1, sessionId));
  assert.equal((await answer(world, second, 1)).result.sessionId, sessionId);
  assert.equal(world.registry.requestsOf("direct/register").length, 1);
});

Deno.test("the signal ends the connection at once, without a close frame", async () => {
  await using world = new DirectWorld();
  const { socket } = await world.service.arrived();
  world.stop.abort(new Error("over"));
  await world.done;
  await socket.ended;
  assert.equal(socket.closeCode, null);
});

Deno.test("an answer of the registry that is not for us ends it", async () => {
  const cases = [
    [
      { environment_id: "other" },
      "exec-server protocol error: environment registry returned a different environment id",
    ],
    [
      { transport: "other" },
      "exec-server protocol error: environment registry returned unsupported direct transport `other`",
    ],
    [
      { registration_id: " " },
      "exec-server protocol error: environment registry returned incomplete direct connection data",
    ],
    [
      { url: "ws://example.com/x" },
      "environment registry configuration error: remote transport requires wss for non-loopback endpoints",
    ],
  ] as const;
  for (const [but, message] of cases) {
    const registry = new TestRegistry({ url: () => "ws://127.0.0.1:9" });
    registry.always("direct/register", { but });
    const signer = { sign: () => Promise.resolve({}) };
    const { signal } = new AbortController();
    try {
      await assert.rejects(runRemoteEnvironment({ registry: registry.url, environmentId: "env-1", signer, signal }), {
        name: "RegistryError",
        message,
      });
    } finally {
      await registry[Symbol.asyncDispose]();
    }
  }
});
