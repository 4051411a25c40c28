import assert from "node:assert/strict";
import type { Json } from "../../lib/json.ts";
import { ClientError } from "../../lib/client/client_error.ts";
import { MAX_WAITING_ANSWERS } from "../../lib/client/limits.ts";
import type { ServerEvent } from "../../lib/client/client_part.ts";
import { type ConnectionOwner, ServerConnection } from "../../lib/client/server_connection.ts";
import type { Telemetry } from "../../lib/client/telemetry.ts";
import { createLog, type Log, silentLog } from "../../lib/log.ts";
import { PathUri } from "../../lib/path_uri.ts";
import type { Connection, Receiver } from "../../lib/rpc/connection.ts";
import { memoryPair } from "../../lib/rpc/memory.ts";
import { ManualClock } from "../support/manual_clock.ts";
import { RecordedTelemetry } from "../support/recorded_telemetry.ts";
import { FarEnd, idle } from "../support/scripted_server.ts";

/** A connection whose other end the test plays, and what it told its owner. */
function connected(
  options: {
    /** In place of one whose other end is `server`. */
    connection?: Connection;
    request?: ConnectionOwner["request"];
    notification?: ConnectionOwner["notification"];
    telemetry?: Telemetry;
    log?: Log;
  } = {},
) {
  const [near, far] = memoryPair();
  const clock = new ManualClock();
  const events: ServerEvent[] = [];
  const ends: string[] = [];
  const connection = new ServerConnection({
    connection: options.connection ?? near,
    generation: 1,
    clock,
    log: options.log ?? silentLog,
    telemetry: options.telemetry ?? {},
    owner: {
      notification: options.notification ?? ((event) => void events.push(event)),
      request: options.request,
      ended: (error) => void ends.push(error.message),
    },
  });
  connection.start();
  return { connection, server: new FarEnd(far), clock, events, ends };
}

const DISCONNECTED = { name: "ClientError", kind: "disconnected", message: "exec-server transport disconnected" };

Deno.test("ServerConnection numbers its calls from 1 and matches answers by number", async () => {
  const { connection, server } = connected();
  const first = connection.call("environment/status", null);
  const second = connection.call("process/terminate", { processId: "p" });
  assert.deepEqual(await server.next(), { id: 1, method: "environment/status", params: null });
  assert.deepEqual(await server.next(), { id: 2, method: "process/terminate", params: { processId: "p" } });
  server.answer(2, { running: true, more: "ignored" });
  server.answer(1, { status: "ready" });
  assert.deepEqual([await first, await second], [{ status: "ready" }, { running: true }]);
});

Deno.test("a call at which the connection ends, because the carrier does not take it, fails as the others do", async () => {
  let receiver: Receiver | undefined;
  const carrier: Connection = {
    ...{ label: "a carrier", malformedPrefix: "", congested: false, sharing: false },
    start: (given) => receiver = given,
    send(text) {
      if (text.includes("terminate")) receiver?.ended({ reason: "message to send is too large" });
    },
    close: () => {},
    drained: () => Promise.resolve(),
  };
  const { connection, clock } = connected({ connection: carrier });
  const before = connection.call("environment/status", null);
  const aborter = new AbortController();
  const refused = connection.call("process/terminate", { processId: "p" }, { timeoutMs: 5, signal: aborter.signal });
  for (const call of [before, refused]) await assert.rejects(call, DISCONNECTED);
  aborter.abort(); // nothing of the call listens any more
  assert.equal(clock.pendingTimers, 0);
});

Deno.test("ServerConnection reports what the server refuses with its code, its words and its kind", async () => {
  const { connection, server } = connected();
  const call = connection.call("environment/status", null);
  server.refuse(1, -32603, "No such file", { kind: "spawnNotFound" });
  await assert.rejects(call, {
    name: "ClientError",
    kind: "server",
    message: "exec-server rejected request (-32603): No such file",
    code: -32603,
    serverMessage: "No such file",
    dataKind: "spawnNotFound",
  });
});

Deno.test("ServerConnection ignores answers to nothing and notifications that it does not know", async () => {
  const { connection, server, events } = connected();
  const call = connection.call("environment/status", null);
  for (const id of [7, "1", -1, "x"]) server.send({ id, result: {} });
  server.send({ id: 9, error: { code: 1, message: "m" } });
  server.send({ method: "nobody/knows", params: { a: 1 } });
  server.send({ jsonrpc: "2.0", method: "process/closed", params: { processId: "p", seq: 1, more: 2 } });
  server.answer(1, { status: "ready" });
  await call;
  assert.deepEqual(events, [{ method: "process/closed", params: { processId: "p", seq: 1 } }]);
  assert.equal(connection.alive, true);
});

Deno.test("ServerConnection takes a binary message that holds JSON, and ends at one that is no text", async () => {
  const [near] = memoryPair();
  let receiver: Receiver | undefined;
  const binary: Connection = Object.assign(Object.create(near), {
    start: (one: Receiver) => receiver = one,
    send: () => {},
    close: () => {},
  });
  Object.defineProperties(binary, {
    congested: { value: false },
    malformedPrefix: { value: "failed to parse: " },
  });
  const { connection, ends } = connected({ connection: binary });
  const call = connection.call("environment/status", null);
  receiver!.message(new TextEncoder().encode('{"id":1,"result":{"status":"ready"}}'));
  assert.deepEqual(await call, { status: "ready" });
  receiver!.message(new Uint8Array([0xff]));
  assert.deepEqual(ends, ["exec-server transport disconnected: failed to parse: expected value at line 1 column 1"]);
});

Deno.test("ServerConnection ends at a message of no known form", async () => {
  const malformed = [
    "[]",
    "{}",
    "3",
    "{",
    '{"id":1,"error":{"code":1}}',
    '{"id":null,"error":{"code":1,"message":"m"}}',
  ];
  for (const text of malformed) {
    const { connection, server, ends } = connected();
    const call = connection.call("environment/status", null);
    server.send(text);
    await assert.rejects(call, DISCONNECTED, text);
    assert.equal(connection.alive, false);
    assert.match(ends[0] ?? "", /^exec-server transport disconnected: failed to parse JSON-RPC message from /, text);
    await server.end;
  }
});

Deno.test("ServerConnection ends at a known notification that cannot be read, or that its owner refuses", async () => {
  const { server, ends } = connected();
  server.send({ method: "process/closed", params: { processId: "p" } });
  await server.end;
  assert.deepEqual(ends, [
    "exec-server transport disconnected: exec-server notification handling failed: " +
    "failed to serialize or deserialize exec-server JSON: missing field `seq`",
  ]);
});

Deno.test("ServerConnection ignores an audit record that is none", async () => {
  const { connection, server, events } = connected();
  server.send({ method: "network/policyDecision", params: { processId: 1 } });
  await idle();
  assert.deepEqual([events, connection.alive], [[], true]);
});

Deno.test("ServerConnection ends when its owner has a defect, which the log is told", async () => {
  const lines: string[] = [];
  const { server, ends } = connected({
    log: createLog("error", (line) => lines.push(line)),
    notification: () => {
      throw new TypeError("defect");
    },
  });
  server.send({ method: "process/closed", params: { processId: "p", seq: 1 } });
  await server.end;
  assert.deepEqual(ends, ["exec-server transport disconnected: exec-server notification handling failed: defect"]);
  assert.match(lines.join(""), /TypeError: defect/);
});

Deno.test("ServerConnection takes an answer of the wrong shape as the failure of that call alone", async () => {
  const { connection, server } = connected();
  const bad = connection.call("process/terminate", { processId: "p" });
  const good = connection.call("environment/status", null);
  server.answer(1, { running: "yes" });
  server.answer(2, { status: "ready" });
  await assert.rejects(bad, {
    kind: "json",
    message: 'failed to serialize or deserialize exec-server JSON: invalid type: string "yes", expected a boolean',
  });
  await good;
});

Deno.test("ServerConnection takes an answer of more values than a server would take", async () => {
  const { connection, server } = connected();
  const call = connection.call("fs/readDirectory", { path: PathUri.parse("file:///"), sandbox: null });
  const entries = Array.from({ length: 100_000 }, (_, n) => ({ fileName: `f${n}`, isDirectory: false, isFile: true }));
  server.answer(1, { entries });
  assert.equal((await call).entries.length, 100_000);
});

Deno.test("ServerConnection counts answers that came before the end, and fails what is left", async () => {
  const { connection, server, ends } = connected();
  const answered = connection.call("environment/status", null);
  const left = assert.rejects(connection.call("environment/status", null), DISCONNECTED);
  server.answer(1, { status: "ready" });
  await server.close();
  assert.deepEqual(await answered, { status: "ready" });
  await left;
  await assert.rejects(connection.call("environment/status", null), DISCONNECTED);
  assert.deepEqual(ends, ["exec-server transport disconnected"]);
});

Deno.test("ServerConnection has 1024 calls in flight, and one more that cleans up", async () => {
  const { connection, server, ends } = connected();
  const calls = Array.from({ length: 1024 }, () => connection.call("environment/status", null));
  await assert.rejects(connection.call("environment/status", null), {
    kind: "protocol",
    message: "exec-server protocol error: exec-server has reached its limit of 1024 pending requests",
  });
  const cleanup = connection.call("process/terminate", { processId: "p" }, { cleanup: true });
  server.answer(1, { status: "ready" });
  await calls[0];
  const next = connection.call("environment/status", null);
  assert.equal(connection.alive, true);
  const failures = Promise.allSettled([...calls.slice(1), cleanup, next]);
  await assert.rejects(connection.call("process/terminate", { processId: "p" }, { cleanup: true }), DISCONNECTED);
  assert.deepEqual(ends, [
    "exec-server transport disconnected: exec-server has reached its limit of 1024 pending requests",
  ]);
  assert.ok((await failures).every(({ status }) => status === "rejected"));
});

Deno.test("ServerConnection gives a call up when its time is over or its caller says so, and frees its place", async () => {
  const { connection, server, clock } = connected();
  const timed = connection.call("environment/status", null, { timeoutMs: 1500 });
  clock.advance(1500);
  await assert.rejects(timed, {
    kind: "callTimeout",
    message: "exec-server protocol error: timed out waiting for exec-server `environment/status` response after 1.5s",
  });
  for (let count = 0; count < 2000; count++) {
    const aborter = new AbortController();
    const aborted = connection.call("environment/status", null, { signal: aborter.signal, timeoutMs: 1000 });
    aborter.abort(new Error("enough"));
    await assert.rejects(aborted, { message: "enough" });
  }
  await assert.rejects(connection.call("environment/status", null, { signal: AbortSignal.abort(new Error("late")) }), {
    message: "late",
  });
  server.answer(1, { status: "late" });
  await idle();
  assert.equal(connection.alive, true);
  assert.equal(clock.pendingTimers, 0);
});

Deno.test("ServerConnection answers a request that it does not know, and goes on", async () => {
  const { connection, server } = connected({ request: () => Promise.resolve() });
  server.send({ id: "text", method: "toString", params: {} });
  assert.deepEqual(await server.next(), {
    id: "text",
    error: { code: -32601, message: "exec-server client does not implement `toString` yet" },
  });
  assert.equal(connection.alive, true);
});

Deno.test("ServerConnection hands over questions about the network, each number once at a time", async () => {
  const asked: { id: string; params: Json }[] = [];
  const gates = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
  const { server, ends } = connected({
    request: async (id, params, connection) => {
      const gate = gates[asked.push({ id, params }) - 1];
      await gate!.promise;
      connection.reply(id, { decision: { type: "allow" } });
    },
  });
  server.send({ id: 0, method: "network/policyRequest", params: 1 });
  await idle();
  gates[0]!.resolve();
  assert.deepEqual(await server.next(), { id: 0, result: { decision: { type: "allow" } } });
  await idle();
  server.send({ id: 0, method: "network/policyRequest" });
  server.send({ id: 0, method: "network/policyRequest" });
  await server.end;
  gates[1]!.resolve();
  assert.deepEqual(ends, ["exec-server transport disconnected: exec-server reused an in-flight request ID"]);
  assert.deepEqual(asked.map(({ id }) => id), ["0", "0"]);
});

Deno.test("ServerConnection ends at a question whose number is none", async () => {
  for (const id of ["1", -1]) {
    const { server, ends } = connected({ request: () => Promise.reject(new Error("not to be called")) });
    server.send({ id, method: "network/policyRequest", params: {} });
    await server.end;
    assert.deepEqual(ends, ["exec-server transport disconnected: exec-server sent an invalid request ID"]);
  }
});

Deno.test("ServerConnection that is ended for good fails its calls with the reason given", async () => {
  const { connection, server, ends } = connected();
  const call = connection.call("environment/status", null);
  const reason = new ClientError("closed", "exec-server executor was replaced");
  connection.end(reason);
  await assert.rejects(call, (error) => error === reason);
  await server.end;
  assert.deepEqual(ends, ["exec-server executor was replaced"]);
});

Deno.test("ServerConnection ends when the server asks on without reading what it is answered", async () => {
  const [near, far] = memoryPair();
  const { ends } = connected({ connection: near });
  // Takes the first answer, and never another.
  far.start({ message: () => new Promise(() => {}), ended: () => {} });
  const ask = (id: number, method: string) => far.send(JSON.stringify({ id, method }));
  // The answer repeats the name: these fill what may be under way.
  for (let id = 0; id < 8; id++) ask(id, "x".repeat(1024 * 1024));
  for (let id = 8; id < MAX_WAITING_ANSWERS; id++) ask(id, "x");
  await idle();
  assert.deepEqual(ends, []);
  for (let id = 0; id < 8; id++) ask(id, "x");
  await idle();
  assert.deepEqual(ends, ["exec-server transport disconnected: exec-server does not read the answers to its requests"]);
});

Deno.test("ServerConnection forgets a call that is given up before the server has room for it", async () => {
  const [near, far] = memoryPair();
  const telemetry = new RecordedTelemetry();
  const room = Promise.withResolvers<void>();
  let congested = true;
  const full: Connection = Object.assign(Object.create(near), {
    start: near.start.bind(near),
    send: near.send.bind(near),
    close: near.close.bind(near),
    drained: () => room.promise,
  });
  Object.defineProperty(full, "congested", { get: () => congested });
  const { connection } = connected({ connection: full, telemetry });
  const server = new FarEnd(far);
  const first = connection.call("environment/status", null);
  const given = new AbortController();
  const others = Array.from(
    { length: 10 },
    () => connection.call("environment/status", null, { signal: given.signal }),
  );
  given.abort(new Error("enough"));
  for (const call of others) await assert.rejects(call, { message: "enough" });
  congested = false;
  room.resolve();
  server.answer((await server.next()).id, { status: "ready" });
  await first;
  const enqueued = telemetry.spans.flatMap(({ events }) => events).map(({ fields }) => fields["outgoing_queue_depth"]);
  assert.equal(enqueued[0], 0);
  assert.deepEqual(server.unread, []);
});
