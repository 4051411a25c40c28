import assert from "node:assert/strict";
import { type ClientOptions, ExecClient } from "../../lib/client/client.ts";
import { ClientError } from "../../lib/client/client_error.ts";
import type { OpenedConnection, OpenOptions } from "../../lib/client/carrier.ts";
import { deferredCarrier, Provisioning } from "../../lib/client/deferred.ts";
import { LazyClient } from "../../lib/client/lazy_client.ts";
import { MAX_UNANSWERED_REQUESTS } from "../../lib/client/limits.ts";
import { registryPauseMs } from "../../lib/client/registry_pause.ts";
import { EXTENSIONS_CAPABILITY } from "../../lib/protocol/extensions.ts";
import { encodeReset } from "../../lib/relay/frame.ts";
import { encodePublicKeys } from "../../lib/relay/public_key_json.ts";
import { REJECTED_PAYLOAD } from "../../lib/relay/noise.ts";
import { DialError } from "../../lib/relay/relay_socket.ts";
import { StaticKeys } from "../../lib/relay/static_keys.ts";
import recorded from "../relay/vectors/real-harness-session.json" with { type: "json" };
import { RecordedTelemetry } from "../support/recorded_telemetry.ts";
import { FarEnd, INFO } from "../support/scripted_server.ts";
import { Recorder } from "../support/recorder.ts";
import { EXECUTORS, RelayWorld } from "./support/relay_world.ts";

const never = new AbortController().signal;
const SHOWN = "wss://rendezvous.test/harness";

function open(world: RelayWorld, options: Partial<OpenOptions> = {}, carrier = world.carrier()) {
  const opening = carrier.open({ signal: never, clock: world.clock, ...options });
  opening.catch(() => {}); // whoever waits for it hears of it
  return opening;
}

/** Ends a connection and waits until nothing is left of it. */
async function close({ connection, gone }: OpenedConnection): Promise<void> {
  connection.close();
  await gone;
}

function refusal(status: number, code?: string): Response {
  return Response.json(code === undefined ? {} : { error: { code, message: "no" } }, { status });
}

/** Its body does not come. */
function brokenAnswer(): Response {
  return new Response(new ReadableStream({ pull: (controller) => controller.error(new Error("cut")) }));
}

/** Lets time pass until the registry has been asked so often. @returns When that was. */
async function askedAt(world: RelayWorld, count: number): Promise<number[]> {
  await world.passUntil(world.request(count));
  return world.asked.map(({ at }) => at);
}

Deno.test("a connection is asked for as the reference does, and goes where the registry says", async () => {
  const world = new RelayWorld();
  const carrier = world.carrier({ accountId: "acct-1", headers: { "x-one": "1" } });
  const opening = open(world, {}, carrier);
  const { authorization } = await world.answer(1);
  const opened = await opening;
  const [{ url, headers, json }] = world.asked as [RelayWorld["asked"][number]];
  assert.equal(url, "https://registry.test/base/cloud/environment/environment/connect");
  assert.deepEqual(headers, {
    ...{ "content-type": "application/json", accept: "*/*", "user-agent": "", "x-one": "1" },
    ...{ authorization: "Bearer token-1", "chatgpt-account-id": "acct-1" },
  });
  const theirs = recorded.registry.connect.body.harness_public_key;
  assert.deepEqual(Object.keys(json), ["harness_public_key"]);
  for (const [name, value] of Object.entries(theirs)) {
    assert.equal(json.harness_public_key[name].length, value.length, name);
  }
  assert.equal(json.harness_public_key.suite, theirs.suite);
  assert.deepEqual(world.dialled, [{ url: world.url, headers: {}, timeoutMs: 10_000 }]);
  assert.equal(authorization, "authorization-1");
  assert.equal(carrier.label, "exec-server environment environment");
  assert.equal(opened.connection.label, `Noise exec-server rendezvous websocket ${SHOWN}`);
  assert.equal(opened.keepsRequestLimit, true);
  await close(opened);
});

Deno.test("the token is asked for before every request, and its failure is told without it", async () => {
  const world = new RelayWorld();
  let number = 0;
  const carrier = world.carrier({ token: () => `t${++number}`, headers: () => ({ "x-one": String(number) }) });
  world.registryActs.push(refusal(401), refusal(401));
  for (let i = 0; i < 2; i++) await assert.rejects(open(world, {}, carrier), { kind: "registry", retryable: false });
  assert.deepEqual(world.asked.map(({ headers }) => headers["authorization"]), ["Bearer t1", "Bearer t2"]);
  const failing = async (token: unknown, message: string, retryable: boolean) => {
    const opening = open(world, {}, world.carrier({ token: token as () => string }));
    await world.passUntil(opening);
    const whole = `environment registry configuration error: ${message}`;
    await assert.rejects(opening, { kind: "configuration", message: whole, retryable });
  };
  await failing("two\nlines", 'the value of the header "authorization" cannot be sent', false);
  await failing(() => Promise.reject(new Error("no such file")), "cannot get the token: no such file", true);
  await failing(() => undefined, "cannot get the token: it is undefined, not a text", true);
  assert.equal(world.asked.length, 2);
});

Deno.test("a token goes to https and to this machine only", async () => {
  const world = new RelayWorld();
  const to = (registry: string) => open(world, {}, world.carrier({ registry }));
  for (const registry of ["http://registry.test", "http://10.0.0.1:80", "ws://127.0.0.1", "nonsense", ""]) {
    await assert.rejects(to(registry), {
      kind: "configuration",
      message: /^environment registry configuration error: /,
    });
  }
  assert.equal(world.asked.length, 0);
  for (const registry of ["http://127.0.0.1:1", "http://localhost", "http://[::1]:1", "https://registry.test"]) {
    world.registryActs.push(refusal(404));
    await assert.rejects(to(registry), { kind: "registry" });
  }
});

Deno.test("an environment whose id is blank, or a path of its own, is refused", async () => {
  const world = new RelayWorld();
  for (const environmentId of ["", "  ", ".", ".."]) {
    await assert.rejects(open(world, {}, world.carrier({ environmentId })), { kind: "configuration" });
  }
  assert.equal(world.asked.length, 0);
});

Deno.test("a first look-up is repeated after what may pass: four times, with growing pauses", async () => {
  const world = new RelayWorld();
  const failures = [
    ...[refusal(429), refusal(500), refusal(503), refusal(408), refusal(409, "environment_offline")],
  ];
  world.registryActs.push(...failures);
  const opening = open(world);
  const at = await askedAt(world, 5);
  await assert.rejects(opening, {
    ...{ kind: "registry", retryable: true },
    message: "environment registry request failed (409 Conflict, environment_offline): no",
  });
  const pauses = at.slice(1).map((time, index) => time - at[index]!);
  for (const [index, base] of [500, 1000, 2000, 4000].entries()) {
    assert.ok(pauses[index]! >= base && pauses[index]! <= base * 1.5, `${pauses[index]} after failure ${index}`);
  }
  assert.equal(world.clock.pendingTimers, 0);
});

Deno.test("a first look-up that succeeds at last goes on", async () => {
  const world = new RelayWorld();
  world.registryActs.push(new TypeError("connection refused"), brokenAnswer(), refusal(502));
  const opening = open(world);
  await askedAt(world, 4);
  await world.answer(1);
  await close(await opening);
});

Deno.test("what asking again does not mend fails at once", async () => {
  const cases: readonly [Response, object][] = [
    [refusal(401), { kind: "registry", message: /^environment registry authentication error: .*401 Unauthorized/ }],
    [refusal(403), { kind: "registry", message: /403 Forbidden/ }],
    [refusal(404), { kind: "registry", message: /^environment registry request failed \(404 Not Found\): / }],
    [refusal(409), { kind: "registry", message: /409 Conflict/ }],
    [refusal(409, "something_else"), { kind: "registry", message: /409 Conflict, something_else/ }],
  ];
  for (const [answer, expected] of cases) {
    const world = new RelayWorld();
    world.registryActs.push(answer);
    await assert.rejects(open(world), { ...expected, retryable: false });
    assert.equal(world.asked.length, 1);
  }
});

Deno.test("an answer that cannot be believed fails at once, and names what is wrong", async () => {
  const cases: Record<string, Record<string, unknown>> = {
    "returned a different environment id": { environment_id: "another" },
    "returned unsupported security profile": { security_profile: "none" },
    "incomplete Noise connection data": { harness_key_authorization: " " },
    "unsupported Noise channel suite": {
      executor_public_key: { suite: "x", x25519_public_key: "", mlkem768_public_key: "" },
    },
  };
  for (const [words, but] of Object.entries(cases)) {
    const world = new RelayWorld();
    world.registryActs.push(Response.json(world.bundle(but)));
    await assert.rejects(open(world), (error) => {
      assert(error instanceof ClientError && error.message.includes(words), String(error));
      return error.retryable === false;
    });
    assert.equal(world.dialled.length, 0);
  }
});

Deno.test("a registry that does not answer has 6 s for each request and 14 s for all", async () => {
  const world = new RelayWorld();
  world.registryActs.push(refusal(503), "hang", "hang", "hang");
  const opening = open(world);
  const at = await askedAt(world, 3);
  assert.ok(at[2]! - at[1]! >= 7_000 && at[2]! - at[1]! <= 7_500, `${at}`);
  await world.passUntil(opening);
  // Another pause would have gone past the limit.
  assert.ok(world.clock.now() >= 13_500 && world.clock.now() <= 14_000, `${world.clock.now()}`);
  await assert.rejects(opening, {
    ...{ kind: "registry", retryable: true },
    message: "environment registry request failed: route-aware request timed out",
  });
  assert.equal(world.clock.pendingTimers, 0);
});

Deno.test("an upgrade that is refused with 401 is followed by one more look-up, and no third", async () => {
  const world = new RelayWorld();
  world.dialActs.push(new DialError("upgrade refused", 401, "expired"));
  const opening = open(world);
  const { authorization } = await world.answer(1);
  assert.equal(authorization, "authorization-2");
  await close(await opening);

  world.dialActs.push(new DialError("upgrade refused", 401), new DialError("upgrade refused", 401, "expired"));
  await assert.rejects(open(world), {
    ...{ kind: "connect", retryable: true },
    message: `failed to connect to exec-server websocket \`${SHOWN}\`: HTTP error: 401 Unauthorized (expired)`,
  });
  assert.equal(world.asked.length, 4);
});

Deno.test("the second look-up has its own four repetitions", async () => {
  const world = new RelayWorld();
  world.registryActs.push(...[503, 503, 503, 503].map((status) => refusal(status)));
  world.registryActs.push(Response.json(world.bundle()));
  world.registryActs.push(...[503, 503, 503, 503].map((status) => refusal(status)));
  world.dialActs.push(new DialError("upgrade refused", 401));
  const opening = open(world);
  await askedAt(world, 10);
  await world.answer(1);
  await close(await opening);
});

Deno.test("an upgrade that fails otherwise is told in words, without the URL's secrets", async () => {
  const failing = async (error: DialError, cause: string) => {
    const world = new RelayWorld();
    world.dialActs.push(error);
    const message = `failed to connect to exec-server websocket \`${SHOWN}\`: ${cause}`;
    await assert.rejects(open(world), { kind: "connect", retryable: true, message });
    assert.equal(world.asked.length, 1);
  };
  const broken = (cause: unknown) => new DialError("connection failed", undefined, undefined, { cause });
  const system = Object.assign(new Error("secret"), { code: "ECONNREFUSED", errno: -111 });
  await failing(broken(system), "IO error: Connection refused (os error 111)");
  await failing(broken(new Error("secret")), "IO error: no connection came about");
  await failing(
    broken(Object.assign(new Error("secret"), { code: "CERT_HAS_EXPIRED" })),
    "TLS error: CERT_HAS_EXPIRED",
  );
  await failing(new DialError("upgrade refused", 403, "pod_draining"), "HTTP error: 403 Forbidden (pod_draining)");
  await failing(new DialError("unusable url"), "IO error: invalid WebSocket URL");
  const world = new RelayWorld();
  world.dialActs.push(new DialError("upgrade timeout"));
  await assert.rejects(open(world, {}, world.carrier({ connectTimeoutMs: 1500 })), {
    ...{ kind: "connectTimeout", retryable: true },
    message: `timed out connecting to exec-server websocket \`${SHOWN}\` after 1.5s`,
  });
  assert.equal(world.dialled[0]?.timeoutMs, 1500);
});

Deno.test("a handshake that fails may be tried again; one that a refused executor answers may not", async () => {
  const world = new RelayWorld();
  const reset = open(world);
  const socket = await world.socket(1);
  const [resume] = await socket.frames(2);
  socket.deliver(encodeReset(resume!.streamId));
  await assert.rejects(reset, {
    ...{ kind: "disconnected", retryable: true },
    message: "Noise harness handshake failed before connection became ready",
  });
  const rejected = open(world);
  const { stream } = await world.answer(2, new Uint8Array(REJECTED_PAYLOAD));
  new Recorder(stream);
  await assert.rejects(rejected, {
    ...{ kind: "registry", retryable: false },
    message: "environment registry authentication error: executor credentials rejected",
  });
  assert.equal(world.asked.length, 2, "no retry by itself");
});

Deno.test("the handshake counts towards the time for initialize", async () => {
  const world = new RelayWorld();
  const silent = open(world);
  await (await world.socket(1)).frames(2);
  world.clock.advance(10_000);
  await assert.rejects(silent, {
    ...{ kind: "initializeTimeout", retryable: true },
    message: "timed out waiting for exec-server initialize handshake after 10s",
  });
  const slow = open(world, { initializeTimeoutMs: 2_000 });
  await (await world.socket(2)).frames(2);
  world.clock.advance(1_500);
  await world.answer(2);
  const opened = await slow;
  assert.equal(opened.initializeTimeoutMs, 500);
  await close(opened);
});

Deno.test("an attempt that is given up fails with the signal's reason, wherever it is", async () => {
  const reason = new Error("not wanted");
  const world = new RelayWorld();
  const givenUp = async (meanwhile: () => Promise<unknown>) => {
    const aborter = new AbortController();
    const opening = open(world, { signal: aborter.signal });
    await meanwhile();
    aborter.abort(reason);
    await assert.rejects(opening, reason);
    assert.equal(world.clock.pendingTimers, 0);
  };
  world.registryActs.push("hang");
  await givenUp(() => world.request(1));
  world.registryActs.push(refusal(503));
  await givenUp(async () => {
    await world.request(2);
    while (world.clock.pendingTimers === 0) await new Promise((resolve) => setTimeout(resolve));
  });
  await givenUp(async () => await (await world.socket(1)).frames(2));
  assert.equal(world.sockets[0]?.closed, "at once");
});

/** A client over the relay, and the server's end of its first connection. */
async function connected(world: RelayWorld, options: ClientOptions = {}) {
  const states: string[] = [];
  const [again, onState] = [Promise.withResolvers<void>(), (state: string) => {
    if (state === "connected" && states.length > 0) again.resolve();
    states.push(state);
  }];
  const connecting = ExecClient.connect(world.carrier(), { clock: world.clock, onState, ...options });
  const server = await world.accept(1);
  await server.shakeHands();
  return { client: await connecting, server, again: again.promise };
}

function lose(world: RelayWorld, count: number): void {
  world.sockets[count - 1]!.end("pong_timeout");
}

Deno.test("a lost connection is followed by one with the same key, another stream and another authorization", async () => {
  for (const how of ["reset", "lost"]) {
    const world = new RelayWorld();
    const { client, again } = await connected(world);
    const { streamId } = world.sockets[0]!.sent[0]!;
    if (how === "reset") world.sockets[0]!.deliver(encodeReset(streamId));
    else lose(world, 1);
    const { streamId: next, authorization, stream } = await world.answer(2);
    assert.notEqual(next, streamId);
    assert.equal(authorization, "authorization-2");
    assert.deepEqual(world.asked[0]?.json, world.asked[1]?.json);
    const params = await new FarEnd(stream).shakeHands();
    assert.deepEqual(params, { clientName: "codex-core", resumeSessionId: "s1" });
    await again;
    await client[Symbol.asyncDispose]();
    assert.equal(world.clock.pendingTimers, 0);
  }
});

Deno.test("another executor ends a recovery for good, and is not spoken to", async () => {
  const world = new RelayWorld();
  const { client } = await connected(world);
  world.executor = EXECUTORS[1];
  const call = client.call("environment/status", null);
  lose(world, 1);
  await assert.rejects(call, { kind: "disconnected" });
  await assert.rejects(client.call("environment/status", null), {
    kind: "disconnected",
    message:
      /; failed to resume exec-server session: exec-server protocol error: executor key changed during session recovery$/,
  });
  assert.equal(client.state, "failed");
  assert.equal(world.dialled.length, 1);
  await client[Symbol.asyncDispose]();
});

Deno.test("an executor that has registered anew is the same one", async () => {
  const world = new RelayWorld();
  const { client, again } = await connected(world);
  world.registrationId = "registration-2";
  lose(world, 1);
  await (await world.accept(2)).shakeHands();
  await again;
  await client[Symbol.asyncDispose]();
});

Deno.test("a recovery asks once per attempt, and pauses as the session's own hash says", async () => {
  const world = new RelayWorld();
  const { client, again } = await connected(world);
  world.registryActs.push(refusal(409, "environment_offline"), refusal(503));
  lose(world, 1);
  const at = (await askedAt(world, 4)).slice(1);
  const pauses = at.slice(1).map((time, index) => time - at[index]!);
  assert.deepEqual(pauses, [registryPauseMs("s1", 0), registryPauseMs("s1", 1)]);
  await (await world.accept(2)).shakeHands();
  await again;
  await client[Symbol.asyncDispose]();
});

Deno.test("a registry that refuses ends a recovery at once", async () => {
  const world = new RelayWorld();
  const { client } = await connected(world);
  world.registryActs.push(refusal(404));
  lose(world, 1);
  await assert.rejects(client.call("environment/status", null), /failed to resume .* \(404 Not Found\)/);
  assert.equal(world.asked.length, 2);
  await client[Symbol.asyncDispose]();
});

Deno.test("keys are kept as long as somebody uses them, and wiped then", async () => {
  const world = new RelayWorld();
  const carrier = world.carrier();
  const key = async () => {
    const opening = open(world, {}, carrier);
    await world.answer(world.sockets.length + 1);
    await close(await opening);
    return world.asked.at(-1)?.json.harness_public_key.x25519_public_key;
  };
  const uses = [carrier.use!(), carrier.use!()];
  const first = await key();
  uses[0]![Symbol.dispose]();
  uses[0]![Symbol.dispose]();
  assert.equal(await key(), first);
  uses[1]![Symbol.dispose]();
  await new Promise((resolve) => setTimeout(resolve));
  assert.notEqual(await key(), first);
});

Deno.test("a client that ends wipes its keys", async () => {
  const world = new RelayWorld();
  const generated = await captureKeys(async () => {
    const { client } = await connected(world);
    await client[Symbol.asyncDispose]();
    await new Promise((resolve) => setTimeout(resolve));
  });
  const shown = world.asked[0]?.json.harness_public_key.x25519_public_key;
  // Those of the handshakes are made in the same way.
  const own = generated.find((keys) => encodePublicKeys(keys.public).x25519_public_key === shown);
  assert.throws(() => own!.x25519.agree(EXECUTORS[0].public.x25519), /wiped/);
});

/** The static keys that are made meanwhile. */
async function captureKeys(act: () => Promise<void>): Promise<StaticKeys[]> {
  const { generate } = StaticKeys;
  const generated: StaticKeys[] = [];
  StaticKeys.generate = async (primitives) => {
    const keys = await generate.call(StaticKeys, primitives);
    generated.push(keys);
    return keys;
  };
  try {
    await act();
    return generated;
  } finally {
    StaticKeys.generate = generate;
  }
}

async function probe(server: FarEnd): Promise<void> {
  server.answer((await server.request("environment/status")).id, { status: "ready" });
}

Deno.test("a refresh keeps the session with the same executor, and goes on with another one", async () => {
  const world = new RelayWorld();
  const client = new LazyClient(world.carrier(), { clock: world.clock });
  const got = client.get();
  const first = await world.accept(1);
  await first.shakeHands({ sessionId: "s1", environmentInfo: INFO });
  const before = await got;
  const kept = client.refresh();
  await probe(first);
  await kept;
  assert.equal(await client.get(), before);

  world.executor = EXECUTORS[1];
  const refreshed = client.refresh();
  const second = await world.accept(2);
  await second.shakeHands({ sessionId: "s2", environmentInfo: INFO });
  await probe(second);
  await refreshed;
  assert.equal((await client.get()).sessionId, "s2");
  assert.equal(before.failure?.message, "exec-server executor was replaced");
  // The first connection, two look-ups, and none for the connection that went where the second one said.
  assert.equal(world.asked.length, 3);
  assert.equal(new Set(world.asked.map(({ json }) => json.harness_public_key.x25519_public_key)).size, 1);
  await client[Symbol.asyncDispose]();
  assert.equal(world.clock.pendingTimers, 0);
});

Deno.test("after a recovery with a new registration a refresh keeps the session", async () => {
  const world = new RelayWorld();
  const client = new LazyClient(world.carrier(), { clock: world.clock });
  const got = client.get();
  await (await world.accept(1)).shakeHands({ sessionId: "s1", environmentInfo: INFO });
  const before = await got;
  world.registrationId = "registration-2";
  lose(world, 1);
  const server = await world.accept(2);
  await server.shakeHands({ sessionId: "s1", environmentInfo: INFO });
  while (before.state !== "connected") await new Promise((resolve) => setTimeout(resolve));
  const refreshed = client.refresh();
  await probe(server);
  await refreshed;
  assert.equal(await client.get(), before);
  await client[Symbol.asyncDispose]();
});

Deno.test("a look-up for a refresh has 10 s", async () => {
  const world = new RelayWorld();
  world.registryActs.push("hang");
  const carrier = world.carrier();
  const aborter = new AbortController();
  const looking = carrier.lookUp!(aborter.signal);
  looking.catch(() => {});
  await world.request(1);
  aborter.abort(new Error("not wanted"));
  await assert.rejects(looking, { message: "not wanted" });
});

Deno.test("an environment behind a registry may be provisioned, and then be refreshed", async () => {
  const world = new RelayWorld();
  const provisioning = new Provisioning();
  const carrier = deferredCarrier(world.carrier(), provisioning);
  const opening = open(world, {}, carrier);
  assert.equal(world.asked.length, 0);
  provisioning.ready();
  await world.answer(1);
  await close(await opening);
  assert.equal(typeof carrier.lookUp, "function");
  assert.equal(typeof carrier.use, "function");
});

Deno.test("a first connection has spans of the caller's trace, whose context goes with the upgrade", async () => {
  const world = new RelayWorld();
  const telemetry = new RecordedTelemetry();
  const opening = open(world, { telemetry, trace: { traceparent: "00-caller", tracestate: "a=b" } });
  await world.answer(1);
  await close(await opening);
  const named = (name: string) => telemetry.named(`codex.exec_server.remote.noise.${name}`)[0]!;
  const [whole, dialling, shaking] = [named("connect"), named("websocket_connect"), named("handshake")];
  assert.equal(telemetry.spans.length, 3);
  assert.deepEqual(whole.parent, { traceparent: "00-caller", tracestate: "a=b" });
  assert.deepEqual([dialling.parent, shaking.parent], [whole.context, whole.context]);
  assert.deepEqual(dialling.attributes, {
    environment_id: "environment",
    executor_registration_id: "registration-1",
  });
  assert.deepEqual(world.dialled[0]?.headers, { traceparent: dialling.context.traceparent });
  for (const span of telemetry.spans) assert.notEqual(span.endedWith, undefined, `${span.name} has not ended`);
});

Deno.test("a first connection that fails ends its spans", async () => {
  const world = new RelayWorld();
  const telemetry = new RecordedTelemetry();
  world.dialActs.push(new DialError("connection failed"));
  await assert.rejects(open(world, { telemetry }));
  assert.deepEqual(telemetry.spans.map(({ endedWith }) => endedWith === undefined), [false, false]);
});

Deno.test("on the relay our own server's clients hold requests back as well", async () => {
  const world = new RelayWorld();
  const { clock } = world;
  const connecting = ExecClient.connect(world.carrier(), { clock });
  const server = await world.accept(1);
  const environmentInfo = { ...INFO, capabilities: { [EXTENSIONS_CAPABILITY]: true } };
  await server.shakeHands({ sessionId: "s1", environmentInfo });
  const client = await connecting;
  const calls = Array.from({ length: 200 }, () => client.call("environment/status", null).catch(() => {}));
  const first = await server.next();
  while (server.unread.length < MAX_UNANSWERED_REQUESTS - 1) await new Promise((resolve) => setTimeout(resolve));
  await new Promise((resolve) => setTimeout(resolve));
  assert.equal(server.unread.length, MAX_UNANSWERED_REQUESTS - 1);
  server.answer(first.id, { status: "ready" });
  await client[Symbol.asyncDispose]();
  await Promise.all(calls);
});

Deno.test("where there are only a browser's WebSockets the relay is refused in words", async () => {
  const { process } = globalThis as { process?: unknown };
  Object.defineProperty(globalThis, "process", { value: undefined, configurable: true, writable: true });
  try {
    await assert.rejects(open(new RelayWorld()), { kind: "configuration", message: /WebSockets that can ping/ });
  } finally {
    Object.defineProperty(globalThis, "process", { value: process, configurable: true, writable: true });
  }
});

Deno.test("what the relay needs is loaded by who uses it, and by nobody else", async () => {
  const loaded = await loadedWith("lib/client/mod.ts");
  assert.ok(loaded.some((module) => module.endsWith("/lib/client/relay_carrier.ts")));
  assert.deepEqual(loaded.filter((module) => /\/lib\/relay\/|^(npm|node):|relay_opener/.test(module)), []);
  const later = await loadedWith("lib/client/relay_opener.ts");
  for (const name of [/^npm:\/?ws@/, /^npm:\/?protobufjs@/]) {
    assert.ok(later.some((module) => name.test(module)), `${name}`);
  }
});

interface ModuleInfo {
  readonly specifier: string;
  readonly dependencies?: readonly { readonly code?: { readonly specifier: string }; readonly isDynamic?: boolean }[];
}

/** What is loaded together with a module: what it imports by more than a type, and not by a call. */
async function loadedWith(path: string): Promise<string[]> {
  const project = new URL("../../", import.meta.url);
  const command = new Deno.Command(Deno.execPath(), { args: ["info", "--json", path], cwd: project.pathname });
  const { modules } = JSON.parse(new TextDecoder().decode((await command.output()).stdout));
  const infos = new Map((modules as ModuleInfo[]).map((info) => [info.specifier, info]));
  const loaded = new Set<string>();
  const visit = (specifier: string) => {
    if (loaded.has(specifier)) return;
    loaded.add(specifier);
    for (const { code, isDynamic } of infos.get(specifier)?.dependencies ?? []) {
      if (code !== undefined && !isDynamic) visit(code.specifier);
    }
  };
  visit(new URL(path, project).href);
  return [...loaded];
}
