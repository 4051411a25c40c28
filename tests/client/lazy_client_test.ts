import assert from "node:assert/strict";
import type { Carrier } from "../../lib/client/carrier.ts";
import { ClientError, connectError } from "../../lib/client/client_error.ts";
import { LazyClient, type LazyClientOptions } from "../../lib/client/lazy_client.ts";
import { createLog } from "../../lib/log.ts";
import { ManualClock } from "../support/manual_clock.ts";
import { RecordedTelemetry } from "../support/recorded_telemetry.ts";
import { type FarEnd, idle, INFO, ScriptedCarrier } from "../support/scripted_server.ts";

const ATTEMPT = "exec-server connection attempt failed: ";
const REFUSED = connectError("ws://test", "IO error: Connection refused (os error 111)");
const UNREPEATABLE = new ClientError("configuration", "not like this");

function lazy(carrier: Carrier, options: LazyClientOptions = {}): LazyClient {
  return new LazyClient(carrier, { clock: new ManualClock(), ...options });
}

function failing(error: unknown): () => Promise<never> {
  return () => Promise.reject(error);
}

/** Like a command: what is lost is lost. */
function unrenewable(carrier: ScriptedCarrier): Carrier {
  return { label: "stdio", resume: null, renewable: false, open: (options) => carrier.open(options) };
}

/** Connects the client and gives the server's end as well. */
async function connected(client: LazyClient, carrier: ScriptedCarrier, sessionId = "s1") {
  const got = client.get();
  const server = await carrier.accept();
  const params = await server.shakeHands({ sessionId, environmentInfo: INFO });
  return { client: await got, server, params };
}

/** Has the client fail for good: its session is not known any more. */
async function failForGood(server: FarEnd, carrier: ScriptedCarrier): Promise<void> {
  await server.close();
  const next = await carrier.accept();
  next.refuse((await next.request("initialize")).id, -32600, "unknown session id s1");
  await idle();
}

async function failure(promise: Promise<unknown>): Promise<ClientError> {
  return await promise.then(() => assert.fail("it did not fail"), (error) => error);
}

Deno.test("a lazy client connects when it is asked first, once for all who ask at the same time", async () => {
  const carrier = new ScriptedCarrier();
  await using client = lazy(carrier);
  await idle();
  assert.equal(carrier.attempts, 0);
  const [first, second] = [client.get(), client.get()];
  const server = await carrier.accept();
  assert.deepEqual(await server.shakeHands(), { clientName: "codex-environment", resumeSessionId: null });
  assert.equal(await first, await second);
  assert.equal(await client.get(), await first);
  assert.equal(carrier.attempts, 1);
});

Deno.test("a client that is recovering is the one to use, and its calls wait", async () => {
  const carrier = new ScriptedCarrier();
  await using client = lazy(carrier);
  const { client: first, server } = await connected(client, carrier);
  await server.close();
  assert.equal(first.state, "recovering");
  const again = await client.get();
  assert.equal(again, first);
  const call = again.call("environment/status", null);
  const next = await carrier.acceptAndShakeHands();
  next.answer((await next.request("environment/status")).id, { status: "ready" });
  await call;
});

Deno.test("after one client has failed for good those who ask share a fresh one with a fresh session", async () => {
  const carrier = new ScriptedCarrier();
  await using client = lazy(carrier);
  const { client: first, server } = await connected(client, carrier);
  await failForGood(server, carrier);
  assert.equal(first.state, "failed");
  const before = first.failure;
  const both = Promise.all([client.get(), client.get()]);
  const { params } = await accepted(carrier, "s2");
  assert.equal(params.resumeSessionId, null);
  const [second, same] = await both;
  assert.equal(second, same);
  assert.equal(second.sessionId, "s2");
  assert.equal(first.failure, before, "the old one keeps its reason");
  await assert.rejects(first.call("environment/status", null), before);
});

async function accepted(carrier: ScriptedCarrier, sessionId: string) {
  const server = await carrier.accept();
  return { server, params: await server.shakeHands({ sessionId, environmentInfo: INFO }) };
}

Deno.test("an attempt to reconnect that failed is forgotten, also when another would not seem to help", async () => {
  const carrier = new ScriptedCarrier();
  await using client = lazy(carrier);
  const { server } = await connected(client, carrier);
  await failForGood(server, carrier);
  for (const error of [REFUSED, UNREPEATABLE]) {
    carrier.acts.push(failing(error));
    const [one, other] = await Promise.all([failure(client.get()), failure(client.get())]);
    assert.equal(one, other, "everybody is given the same error");
    assert.equal(one.message, ATTEMPT + error.message);
    assert.equal(one.cause, error);
  }
  assert.equal((await connected(client, carrier, "s3")).client.sessionId, "s3");
});

Deno.test("a first attempt that failed in a way that another may mend is not held against the environment", async () => {
  const carrier = new ScriptedCarrier();
  await using client = lazy(carrier);
  carrier.acts.push(failing(REFUSED));
  const error = await failure(client.get());
  assert.deepEqual([error.kind, error.message, error.retryable], ["attempt", ATTEMPT + REFUSED.message, true]);
  await connected(client, carrier);
  assert.equal(carrier.attempts, 2);
});

Deno.test("a first attempt that another would not mend is remembered: everybody gets the same error", async () => {
  const carrier = new ScriptedCarrier();
  await using client = lazy(carrier);
  carrier.acts.push(failing(UNREPEATABLE));
  const error = await failure(client.get());
  assert.equal(error.message, ATTEMPT + UNREPEATABLE.message);
  assert.equal(await failure(client.get()), error);
  assert.deepEqual(await client.status(), { state: "disconnected", error: error.message });
  assert.equal(carrier.attempts, 1);
});

Deno.test("a command that failed once is not started again, whatever the failure was", async () => {
  const carrier = new ScriptedCarrier();
  await using client = lazy(unrenewable(carrier));
  const got = failure(client.get());
  await (await carrier.accept()).close();
  const error = await got;
  assert.equal(error.message, `${ATTEMPT}exec-server transport disconnected`);
  assert.equal(error.retryable, true);
  assert.equal(await failure(client.get()), error);
  assert.equal(carrier.attempts, 1);
});

Deno.test("a command that has ended stays the client, and its calls fail", async () => {
  const carrier = new ScriptedCarrier();
  await using client = lazy(unrenewable(carrier));
  const { client: first, server } = await connected(client, carrier);
  await server.close();
  assert.equal(first.state, "failed");
  assert.equal(await client.get(), first);
  await assert.rejects(first.call("environment/status", null), { message: "exec-server transport disconnected" });
  assert.equal(carrier.attempts, 1);
});

Deno.test("failFast never connects, and does not wait for a recovery", async () => {
  const carrier = new ScriptedCarrier();
  await using client = lazy(carrier, { recovery: "failFast" });
  await assert.rejects(client.get(), { kind: "unavailable", message: "exec-server environment is not ready" });
  assert.equal(carrier.attempts, 0);
  client.connectInBackground();
  await assert.rejects(client.get(), { message: "exec-server environment is not ready" });
  const server = await carrier.acceptAndShakeHands();
  await idle();
  const got = await client.get();
  await server.close();
  await assert.rejects(client.get(), { kind: "unavailable", message: "exec-server environment is recovering" });
  await assert.rejects(got.call("environment/status", null), { message: "exec-server environment is recovering" });
  const waiting = await client.get({ recovery: "wait" });
  assert.equal(waiting, got);
});

Deno.test("in the background one attempt is made, and its failure is told to whoever asks", async () => {
  const carrier = new ScriptedCarrier();
  await using client = lazy(carrier);
  carrier.acts.push(failing(UNREPEATABLE));
  client.connectInBackground();
  client.connectInBackground();
  await idle();
  client.connectInBackground();
  assert.equal((await failure(client.get())).message, ATTEMPT + UNREPEATABLE.message);
  assert.equal(carrier.attempts, 1);
});

Deno.test("the status asks a server that is there, and wakes nobody up", async () => {
  const carrier = new ScriptedCarrier();
  await using client = lazy(carrier);
  assert.deepEqual(await client.status(), { state: "pending" });
  const gate = Promise.withResolvers<void>();
  carrier.acts.push(() => gate.promise.then(failing(REFUSED)));
  const failed = failure(client.get());
  assert.deepEqual(await client.status(), { state: "pending" });
  gate.resolve();
  const { message } = await failed;
  assert.deepEqual(await client.status(), { state: "disconnected", error: message });
  assert.equal(carrier.attempts, 1);
  const { server } = await connected(client, carrier);
  const status = client.status();
  server.answer((await server.request("environment/status")).id, { status: "ready" });
  assert.deepEqual(await status, { state: "ready" });
  await failForGood(server, carrier);
  assert.deepEqual(await client.status(), {
    state: "disconnected",
    error: "exec-server transport disconnected; failed to resume exec-server session: " +
      "exec-server rejected request (-32600): unknown session id s1",
  });
});

Deno.test("the state of the connection is told on change only, over all sessions", async () => {
  const carrier = new ScriptedCarrier();
  const logged: string[] = [];
  await using client = lazy(carrier, { log: createLog("error", (line) => logged.push(line)) });
  const heard: string[] = [];
  client.states.subscribe(() => {
    throw new Error("a fault of the listener");
  });
  const end = client.states.subscribe((state) => void heard.push(state));
  assert.equal(client.states.current, "disconnected");
  const { server } = await connected(client, carrier);
  assert.equal(client.states.current, "connected");
  await server.close();
  const second = await carrier.acceptAndShakeHands();
  await idle();
  assert.deepEqual(heard, ["connected", "disconnected", "connected"]);
  await failForGood(second, carrier);
  await connected(client, carrier, "s2");
  assert.deepEqual(heard, ["connected", "disconnected", "connected", "disconnected", "connected"]);
  end();
  await client[Symbol.asyncDispose]();
  assert.equal(heard.length, 5);
  assert.equal(client.states.current, "disconnected");
  assert.equal(logged.filter((line) => line.includes("a listener for connection states failed")).length, 6);
});

Deno.test("who gives up waiting leaves the attempt to the others", async () => {
  const carrier = new ScriptedCarrier();
  await using client = lazy(carrier);
  const giveUp = new AbortController();
  const impatient = assert.rejects(client.get({ signal: giveUp.signal }), { message: "no more" });
  const patient = client.get();
  giveUp.abort(new Error("no more"));
  await impatient;
  await carrier.acceptAndShakeHands();
  assert.equal((await patient).state, "connected");
  await assert.rejects(client.get({ signal: giveUp.signal }), { message: "no more" });
});

Deno.test("a lazy client that is disposed of ends what it had, and those who wait", async () => {
  const carrier = new ScriptedCarrier();
  const waiting = lazy(carrier);
  const got = failure(waiting.get());
  const server = await carrier.accept();
  await waiting[Symbol.asyncDispose]();
  assert.equal((await got).message, `${ATTEMPT}exec-server transport closed`);
  await server.end;
  const client = lazy(carrier);
  const { client: first, server: second } = await connected(client, carrier);
  const call = failure(first.call("environment/status", null));
  await client[Symbol.asyncDispose]();
  assert.equal((await call).message, "exec-server transport closed");
  await second.end;
  await assert.rejects(client.get(), { kind: "closed", message: "exec-server transport closed" });
  assert.deepEqual(await client.status(), { state: "disconnected", error: "exec-server transport closed" });
  client.connectInBackground();
  assert.equal(carrier.attempts, 2);
});

Deno.test("each attempt has a span of its own, which is the parent of its handshake's", async () => {
  const carrier = new ScriptedCarrier();
  const telemetry = new RecordedTelemetry();
  telemetry.current = { traceparent: "caller", tracestate: "" };
  await using client = lazy(carrier, { telemetry });
  carrier.acts.push(failing(REFUSED));
  await failure(client.get());
  await connected(client, carrier);
  const attempts = telemetry.named("codex.exec_server.remote.connect");
  assert.deepEqual(attempts.map(({ parent, endedWith }) => [parent, endedWith]), [[undefined, {}], [undefined, {}]]);
  assert.deepEqual(telemetry.named("initialize").map(({ parent }) => parent), [attempts[1]?.context]);
});
