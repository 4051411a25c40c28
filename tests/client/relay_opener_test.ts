import assert from "node:assert/strict";
import { encodeReset } from "../../lib/relay/stream/frame.ts";
import { REJECTED_PAYLOAD } from "../../lib/relay/noise/noise.ts";
import { DialError } from "../../lib/relay/socket/relay_socket.ts";
import { RecordedTelemetry } from "../support/recorded_telemetry.ts";
import { Recorder } from "../support/recorder.ts";
import { close, open, refusal, RelayWorld, SHOWN } from "./support/relay_world.ts";

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
