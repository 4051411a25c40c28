import assert from "node:assert/strict";
import { ExecClient } from "../../lib/client/client.ts";
import { createLog } from "../../lib/log.ts";
import { RecordedTelemetry } from "../support/recorded_telemetry.ts";
import { ScriptedCarrier } from "../support/scripted_server.ts";

async function connected(telemetry: RecordedTelemetry | undefined, environmentInfo: unknown = null) {
  const carrier = new ScriptedCarrier();
  const connecting = ExecClient.connect(carrier, telemetry === undefined ? {} : { telemetry });
  const server = await carrier.accept();
  const { id, ...initialize } = await server.request("initialize");
  server.answer(id, { sessionId: "s1", environmentInfo });
  const initialized = await server.next();
  return { client: await connecting, carrier, server, initialize, initialized };
}

Deno.test("without telemetry no request carries a trace, unless the caller gives one", async () => {
  const { client, server, initialize } = await connected(undefined);
  assert.equal("trace" in initialize, false);
  const trace = { traceparent: "00-mine", tracestate: "" };
  const calls = [client.call("environment/status", null), client.call("environment/status", null, { trace })];
  assert.deepEqual(await server.next(), { id: 2, method: "environment/status", params: null });
  assert.deepEqual((await server.next()).trace, { traceparent: "00-mine" });
  for (const id of [2, 3]) server.answer(id, { status: "ready" });
  await Promise.all(calls);
  await client[Symbol.asyncDispose]();
});

Deno.test("each request carries the context of its own span, which belongs to the caller's trace", async () => {
  const telemetry = new RecordedTelemetry();
  telemetry.current = { traceparent: "00-current", tracestate: "a=b" };
  const { client, server, initialize, initialized } = await connected(telemetry);
  const [handshake] = telemetry.named("initialize");
  assert.equal(handshake?.parent, undefined, "the handshake has a trace of its own");
  assert.deepEqual(initialize.trace, { traceparent: handshake?.context.traceparent });
  assert.deepEqual(initialized, { method: "initialized", params: {} });

  const own = { traceparent: "00-own" };
  const calls = [
    client.call("environment/status", null),
    client.call("environment/status", null, { trace: own }),
    client.call("environment/status", null, { trace: null }),
  ];
  for (const [index, parent] of [telemetry.current, own, undefined].entries()) {
    const { id, trace } = await server.request("environment/status");
    const span = telemetry.named("environment/status")[index]!;
    assert.deepEqual(span.parent, parent);
    assert.equal(trace.traceparent, span.context.traceparent);
    assert.equal(span.kind, "client");
    assert.equal(span.endedWith, undefined);
    server.answer(id, { status: "ready" });
  }
  await Promise.all(calls);
  const [span] = telemetry.named("environment/status");
  assert.deepEqual(span?.endedWith, {});
  assert.deepEqual(span?.events.map(({ name }) => name), [
    "codex.exec_server.request_enqueued",
    "codex.exec_server.response_received",
  ]);
  const [enqueued, received] = span!.events;
  assert.equal(enqueued?.fields["rpc.method"], "environment/status");
  assert.equal(enqueued?.fields["outgoing_queue_depth"], 0);
  assert.equal(enqueued?.fields["outgoing_queue_capacity"], 128);
  assert.ok(Number(enqueued?.fields["enqueue_wait_ms"]) >= 0);
  assert.deepEqual([received?.fields["rpc.method"], received?.fields["outcome"]], ["environment/status", "success"]);
  assert.ok(Number.isInteger(received?.fields["reader_to_caller_ns"]));
  await client[Symbol.asyncDispose]();
});

Deno.test("a call that fails here has a span without an answer; one that the server refuses has one", async () => {
  const telemetry = new RecordedTelemetry();
  const { client, server } = await connected(telemetry);
  const refused = client.call("environment/status", null);
  server.refuse((await server.request("environment/status")).id, 1, "no");
  await assert.rejects(refused);
  const aborter = new AbortController();
  const aborted = client.call("environment/status", null, { signal: aborter.signal });
  aborter.abort();
  await assert.rejects(aborted);
  const outcomes = telemetry.named("environment/status").map(({ events, endedWith }) => {
    assert.deepEqual(endedWith, {});
    return events.filter(({ name }) => name.endsWith("response_received")).map(({ fields }) => fields["outcome"]);
  });
  assert.deepEqual(outcomes, [["error"], []]);
  await client[Symbol.asyncDispose]();
});

Deno.test("the counter counts every attempt before it is admitted, and no notification", async () => {
  const telemetry = new RecordedTelemetry();
  const { client, server } = await connected(telemetry);
  const calls = Array.from({ length: 1025 }, () => client.call("environment/status", null));
  const settled = Promise.allSettled(calls);
  await assert.rejects(calls[1024]!, /limit of 1024 pending requests/);
  const counted = new Map<string, number>();
  for (const { name, labels } of telemetry.counts) {
    assert.equal(name, "exec_server_client_requests_total");
    assert.deepEqual(Object.keys(labels), ["method"]);
    counted.set(labels["method"]!, (counted.get(labels["method"]!) ?? 0) + 1);
  }
  assert.deepEqual([...counted], [["initialize", 1], ["environment/status", 1025]]);
  assert.equal(telemetry.named("environment/status").length, 1025);
  await client[Symbol.asyncDispose]();
  await settled;
  await server.end;
});

Deno.test("of what the server tells, the ends have spans; its questions have one each", async () => {
  const telemetry = new RecordedTelemetry();
  const { client, server } = await connected(telemetry);
  const delta = { requestId: "r", seq: 1, deltaBase64: "", done: false, error: null };
  server.send({ method: "process/output", params: { processId: "p", seq: 1, stream: "stdout", chunk: "" } });
  server.send({ method: "process/exited", params: { processId: "p", seq: 2, exitCode: 0 } });
  server.send({ method: "process/closed", params: { processId: "p", seq: 3 } });
  server.send({ method: "http/request/bodyDelta", params: delta });
  server.send({ method: "http/request/bodyDelta", params: { ...delta, seq: 2, done: true } });
  const question = { processId: "p", request: { protocol: "http", host: "h", port: 80 } };
  const trace = { traceparent: "00-theirs" };
  server.send({ id: 5, method: "network/policyRequest", params: question, trace });
  assert.deepEqual(await server.next(), { id: 5, result: { decision: { type: "deny", reason: "not_allowed" } } });
  server.send({ id: 6, method: "network/policyRequest", params: {} });
  assert.equal((await server.next()).error.code, -32602);

  const told = telemetry.named("codex.exec_server.notification");
  assert.deepEqual(told.map(({ attributes }) => attributes["rpc.method"]), [
    "process/exited",
    "process/closed",
    "http/request/bodyDelta",
  ]);
  for (const { kind, attributes, endedWith } of told) {
    assert.deepEqual([kind, attributes["rpc.system"], endedWith], ["server", "jsonrpc", { result: "success" }]);
  }
  const asked = telemetry.named("network/policyRequest");
  assert.deepEqual(asked.map(({ kind, parent }) => [kind, parent]), [["server", trace], ["server", undefined]]);
  assert.deepEqual(asked.map(({ endedWith }) => endedWith), [{ result: "success" }, { result: "error" }]);
  await client[Symbol.asyncDispose]();
});

Deno.test("info has a span of the environment, above the one of its request", async () => {
  const telemetry = new RecordedTelemetry();
  const { client, server } = await connected(telemetry);
  const asking = client.info();
  server.answer((await server.request("environment/info")).id, { shell: { name: "sh", path: "/bin/sh" } });
  await asking;
  const [outer] = telemetry.named("exec_server.environment.info");
  assert.deepEqual([outer?.attributes, outer?.kind, outer?.endedWith], [{ remote: true }, "internal", {}]);
  assert.equal(telemetry.named("environment/info")[0]?.parent, outer?.context);
  await client[Symbol.asyncDispose]();
});

Deno.test("telemetry that throws is told to the log and disturbs nothing", async () => {
  const lines: string[] = [];
  const fault = () => {
    throw new Error("broken exporter");
  };
  const carrier = new ScriptedCarrier();
  const broken = { context: { traceparent: "00-broken" }, event: fault, end: fault };
  let spans = 0;
  const connecting = ExecClient.connect(carrier, {
    log: createLog("error", (line) => lines.push(line)),
    telemetry: { count: fault, startSpan: () => spans++ === 0 ? broken : fault(), currentTrace: fault, event: fault },
  });
  const server = await carrier.acceptAndShakeHands();
  const client = await connecting;
  const call = client.call("environment/status", null);
  const { id, trace } = await server.request("environment/status");
  assert.equal(trace, undefined);
  server.answer(id, { status: "ready" });
  await call;
  for (const what of ["count", "start of a span", "span event", "end of a span", "current trace"]) {
    assert.ok(lines.some((line) => line.includes(what) && line.includes("broken exporter")), what);
  }
  await client[Symbol.asyncDispose]();
});
