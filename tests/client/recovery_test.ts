import assert from "node:assert/strict";
import { type ClientOptions, ExecClient } from "../../lib/client/client.ts";
import { type ClientError, connectError, connectTimeout } from "../../lib/client/client_error.ts";
import type { ClientPart, ServerEvent } from "../../lib/client/client_part.ts";
import { LogicalClient, type LogicalClientOptions } from "../../lib/client/logical_client.ts";
import { silentLog } from "../../lib/log.ts";
import { ManualClock } from "../support/manual_clock.ts";
import { RecordedTelemetry } from "../support/recorded_telemetry.ts";
import { type FarEnd, idle, ScriptedCarrier } from "../support/scripted_server.ts";

const LOST = "exec-server transport disconnected";

/** A connected client without parts of its own, and the server's end of its first connection. */
async function connected(
  options: { parts?: ClientPart[]; carrier?: ScriptedCarrier } & Partial<LogicalClientOptions> = {},
) {
  const { parts = [], carrier = new ScriptedCarrier(), ...more } = options;
  const clock = new ManualClock();
  const telemetry = new RecordedTelemetry();
  const states: string[] = [];
  const client = new LogicalClient({
    carrier,
    clientName: "test",
    initializeTimeoutMs: 10_000,
    attachDeadlineMs: 45_000,
    recoveryDeadlineMs: 50_000,
    failFast: false,
    clock,
    log: silentLog,
    telemetry,
    onState: (state) => void states.push(state),
    ...more,
  });
  for (const part of parts) client.add(part);
  const starting = client.start(null, null, new AbortController().signal);
  const server = await carrier.acceptAndShakeHands();
  await starting;
  return { client, carrier, clock, telemetry, states, server };
}

/** Lets the timer that is due next act, until something is true. */
async function pass(clock: ManualClock, ms: number, until: () => boolean): Promise<void> {
  for (let passed = 0; !until(); passed += ms) {
    assert.ok(passed < 120_000, "nothing came of the waiting");
    await idle();
    clock.advance(ms);
    await idle();
  }
}

function timeouts(telemetry: RecordedTelemetry): unknown[] {
  return telemetry.events.map(({ name, fields }) => {
    assert.equal(name, "codex.exec_server.session_recovery_timeout");
    return [fields["stage"], fields["deadline_owner"], fields["elapsed_ms"]];
  });
}

Deno.test("a lost connection is followed by another at once, and calls wait for it", async () => {
  const { client, carrier, clock, states, server } = await connected();
  const under = assert.rejects(client.call("environment/status", null), { kind: "disconnected", message: LOST });
  await server.request("environment/status");
  await server.close();
  await under;
  assert.equal(client.state, "recovering");
  const waiting = client.call("environment/status", null);
  const next = await carrier.accept();
  assert.equal(clock.now(), 0, "the first attempt is made without a pause");
  assert.deepEqual(await next.shakeHands(), { clientName: "test", resumeSessionId: "s1" });
  assert.equal((await next.request("environment/status")).id, 2);
  next.answer(2, { status: "ready" });
  await waiting;
  assert.equal(client.state, "connected");
  assert.deepEqual(states, ["connected", "disconnected", "connected"]);
  assert.equal(clock.pendingTimers, 0);
  await client.end();
});

Deno.test("calls wait until the replay is over, also when the session is attached again", async () => {
  const gate = Promise.withResolvers<void>();
  const { client, carrier, server } = await connected({ parts: [{ replay: () => gate.promise }] });
  await server.close();
  const waiting = client.call("environment/status", null);
  const next = await carrier.acceptAndShakeHands();
  await idle();
  assert.deepEqual(next.unread, []);
  gate.resolve();
  next.answer((await next.request("environment/status")).id, { status: "ready" });
  await waiting;
  await client.end();
});

Deno.test("a call that does not want to wait for a recovery fails at once", async () => {
  const { client, carrier, server } = await connected({ failFast: true });
  await server.close();
  await assert.rejects(client.call("environment/status", null), {
    kind: "unavailable",
    message: "exec-server environment is recovering",
  });
  const next = await carrier.acceptAndShakeHands();
  await idle();
  const call = client.call("environment/status", null);
  next.answer((await next.request("environment/status")).id, { status: "ready" });
  await call;
  await client.end();
});

Deno.test("a waiting call is given up by its signal", async () => {
  const { client, server } = await connected();
  await server.close();
  const aborter = new AbortController();
  const waiting = client.call("environment/status", null, { signal: aborter.signal });
  aborter.abort(new Error("enough"));
  await assert.rejects(waiting, { message: "enough" });
  await client.end();
});

Deno.test("the parts hear of the loss, are waited for, and hear of the new connection before anybody else", async () => {
  const told: string[] = [];
  const settled = Promise.withResolvers<void>();
  const part: ClientPart = {
    disconnected: (error) => void told.push(`disconnected: ${error.message}`),
    settled: () => settled.promise.finally(() => told.push("settled")),
    replay: (connection) => Promise.resolve(void told.push(`replay ${connection.generation}`)),
    notification: ({ method }, connection) => void told.push(`${method} ${connection.generation}`),
  };
  const { client, carrier, server } = await connected({ parts: [part] });
  await server.close();
  assert.equal(carrier.attempts, 1, "nothing is tried while a start is under way");
  settled.resolve();
  const next = await carrier.accept();
  const { id } = await next.request("initialize");
  next.send({ method: "process/closed", params: { processId: "p", seq: 1 } });
  next.answer(id, { sessionId: "s1" });
  await client.connection();
  assert.deepEqual(told, [`disconnected: ${LOST}`, "settled", "process/closed 2", "replay 2"]);
  await client.end();
});

Deno.test("attempts that may yet succeed are repeated after the carrier's pause", async () => {
  const failures: ((server: FarEnd) => Promise<void>)[] = [
    async (server) => server.refuse((await server.request("initialize")).id, -32010, "attached elsewhere"),
    (server) => server.close(),
    async (server) => server.refuse((await server.request("initialize")).id, -32000, "JSON-RPC transport closed"),
  ];
  const { client, carrier, clock, server } = await connected();
  for (const error of [connectError("u", "refused"), connectTimeout("u", 10_000)]) {
    carrier.acts.push(() => Promise.reject(error));
  }
  await server.close();
  await pass(clock, 100, () => carrier.attempts === 4);
  for (const [index, fail] of failures.entries()) {
    const next = await carrier.accept();
    await fail(next);
    await pass(clock, 100, () => carrier.attempts === 5 + index);
  }
  await carrier.acceptAndShakeHands();
  await client.connection();
  assert.deepEqual(carrier.pauses.map(({ attempt }) => attempt), [0, 1, 2, 3, 4]);
  assert.ok(carrier.pauses.every(({ sessionId }) => sessionId === "s1"));
  assert.ok(clock.now() >= 500 && clock.now() < 1500);
  assert.equal(clock.pendingTimers, 0);
  await client.end();
});

Deno.test("a server that drops what it has just resumed, again and again, is dialled after a pause", async () => {
  const { client, carrier, clock, server } = await connected();
  await server.close();
  for (let outage = 0; outage < 2; outage++) {
    const next = await carrier.acceptAndShakeHands();
    await idle();
    await next.close();
    await idle();
  }
  assert.equal(carrier.attempts, 3);
  clock.advance(99);
  await idle();
  assert.equal(carrier.attempts, 3);
  clock.advance(1);
  const fourth = await carrier.acceptAndShakeHands();
  await idle();
  // One that has lasted a while is followed at once.
  clock.advance(100);
  await fourth.close();
  await carrier.acceptAndShakeHands();
  await client.end();
});

Deno.test("an attempt that cannot succeed ends the client, with one text for everybody", async () => {
  const told: ClientError[] = [];
  const cases: [(server: FarEnd, id: number) => void, string][] = [
    [
      (server, id) => server.refuse(id, -32600, "unknown session id s1"),
      "exec-server rejected request (-32600): unknown session id s1",
    ],
    [
      (server, id) => server.answer(id, { sessionId: "s2" }),
      "exec-server protocol error: exec-server initialized an unexpected session s2",
    ],
    [
      (server, id) => server.answer(id, { sessionId: "s1", environmentInfo: {} }),
      "failed to serialize or deserialize exec-server JSON: missing field `shell`",
    ],
  ];
  for (const [answer, reason] of cases) {
    const part = { failed: (error: ClientError) => void told.push(error) };
    const { client, carrier, clock, server, states } = await connected({ parts: [part] });
    await server.close();
    const waiting = [
      client.call("environment/status", null),
      client.connection(),
      client.info(),
      client.callUntilAnswered("environment/status", null),
    ];
    const settled = Promise.allSettled(waiting);
    const next = await carrier.accept();
    answer(next, (await next.request("initialize")).id);
    const failures = (await settled).map((outcome) => outcome.status === "rejected" ? outcome.reason : "fulfilled");
    const failure = client.failure;
    assert.equal(failure?.message, `${LOST}; failed to resume exec-server session: ${reason}`);
    // `info` had it from the handshake.
    assert.equal(failures.filter((found) => found === failure).length, 3);
    assert.equal(told.pop(), failure);
    assert.equal(client.state, "failed");
    await assert.rejects(client.connection(), (error) => error === failure);
    await next.end;
    assert.equal(clock.pendingTimers, 0);
    assert.deepEqual(states, ["connected", "disconnected"]);
    await client.end();
    assert.equal(client.failure, failure, "what it failed with stays");
  }
});

Deno.test("a client whose carrier knows no way back fails with the loss alone", async () => {
  const { client, carrier, server } = await connected({ carrier: new ScriptedCarrier({ resumable: false }) });
  const under = assert.rejects(client.call("environment/status", null), { message: LOST });
  await server.close();
  await under;
  await assert.rejects(client.call("environment/status", null), { message: LOST });
  assert.equal(client.state, "failed");
  assert.equal(carrier.attempts, 1);
  await client.end();
});

Deno.test("a client that is lost before it has a session cannot resume one", async () => {
  const carrier = new ScriptedCarrier();
  const failed = Promise.withResolvers<ClientError>();
  const client = new LogicalClient({
    carrier,
    clientName: "test",
    initializeTimeoutMs: 10_000,
    attachDeadlineMs: 45_000,
    recoveryDeadlineMs: 50_000,
    failFast: false,
    clock: new ManualClock(),
    log: silentLog,
    telemetry: {},
    onState: () => {},
  });
  client.add({ failed: failed.resolve });
  const starting = assert.rejects(client.start(null, null, new AbortController().signal), { message: LOST });
  const server = await carrier.accept();
  await server.request("initialize");
  await server.close();
  await starting;
  assert.equal((await failed.promise).message, `${LOST}; failed to resume exec-server session: missing session id`);
  await client.end();
});

Deno.test("the session must be attached again within 45 s, whatever the attempt is at", async () => {
  const cases: [string, (carrier: ScriptedCarrier) => void, string][] = [
    // Nobody answers the dialling.
    ["hangs", (carrier) => carrier.acts.push(() => new Promise(() => {})), "initialize"],
    // Refused again and again: the pause is what is cut off.
    ["refused", (carrier) => {
      for (let n = 0; n < 1000; n++) carrier.acts.push(() => Promise.reject(connectError("u", "refused")));
    }, "backoff"],
  ];
  for (const [name, prepare, stage] of cases) {
    const { client, carrier, clock, telemetry, server } = await connected();
    prepare(carrier);
    await server.close();
    await pass(clock, 50, () => client.state === "failed");
    assert.equal(
      client.failure?.message,
      `${LOST}; failed to resume exec-server session: recovery timed out after 45s`,
      name,
    );
    assert.equal(clock.now(), 45_000, name);
    assert.deepEqual(timeouts(telemetry), [[stage, "attach_deadline", 45_000]], name);
    assert.equal(clock.pendingTimers, 0);
    if (name === "refused") assert.ok(carrier.attempts > 400);
    // An attempt that hangs for ever is the carrier's fault; the end of a client waits for its carrier.
    if (name === "refused") await client.end();
  }
});

Deno.test("each initialize has its own time, and the last one what is left of the 45 s", async () => {
  const { client, carrier, clock, telemetry, server } = await connected();
  await server.close();
  await pass(clock, 100, () => client.state === "failed");
  assert.equal(client.failure?.message, `${LOST}; failed to resume exec-server session: recovery timed out after 45s`);
  assert.deepEqual(timeouts(telemetry), [
    ["initialize", "initialize", 10_000],
    ["initialize", "initialize", 20_100],
    ["initialize", "initialize", 30_200],
    ["initialize", "initialize", 40_300],
    ["initialize", "attach_deadline", 45_000],
  ]);
  for (let n = 0; n < 5; n++) assert.ok((await carrier.accept()).ended, "an attempt that failed leaves nothing open");
  await client.end();
});

Deno.test("the replay must be over within 50 s; it is cut off in the middle", async () => {
  const aborted: boolean[] = [];
  const part: ClientPart = {
    replay: (_connection, signal) =>
      new Promise(() => signal.addEventListener("abort", () => aborted.push(signal.aborted))),
  };
  const { client, carrier, clock, telemetry, server } = await connected({ parts: [part] });
  await server.close();
  const next = await carrier.acceptAndShakeHands();
  await idle();
  clock.advance(49_999);
  await idle();
  assert.equal(client.state, "recovering");
  clock.advance(1);
  await next.end;
  await idle();
  assert.equal(client.failure?.message, `${LOST}; failed to resume exec-server session: recovery timed out after 50s`);
  assert.deepEqual(aborted, [true]);
  assert.deepEqual(timeouts(telemetry), [["process_replay", "recovery_deadline", 50_000]]);
  await client.end();
});

Deno.test("the waiting for starts that are under way counts towards the 45 s", async () => {
  const part: ClientPart = { settled: () => new Promise(() => {}) };
  const { client, clock, telemetry, server } = await connected({ parts: [part], attachDeadlineMs: 250 });
  await server.close();
  clock.advance(250);
  await idle();
  assert.equal(
    client.failure?.message,
    `${LOST}; failed to resume exec-server session: recovery timed out after 250ms`,
  );
  assert.deepEqual(timeouts(telemetry), [["process_start_drain", "attach_deadline", 250]]);
  await client.end();
});

Deno.test("a connection that is lost during the replay is followed by another within the same limits", async () => {
  let replays = 0;
  const part: ClientPart = {
    replay: async (connection) => {
      replays++;
      await connection.call("process/read", { processId: "p", afterSeq: 0, maxBytes: null, waitMs: 0 });
    },
  };
  const { client, carrier, clock, server, states } = await connected({ parts: [part] });
  await server.close();
  const second = await carrier.acceptAndShakeHands();
  await second.request("process/read");
  await second.close();
  await pass(clock, 100, () => carrier.attempts === 3);
  const third = await carrier.acceptAndShakeHands();
  const answer = { chunks: [], nextSeq: 1, exited: false, exitCode: null, closed: false };
  third.answer((await third.request("process/read")).id, answer);
  assert.equal((await client.connection()).generation, 3);
  assert.equal(replays, 2);
  assert.deepEqual(states, ["connected", "disconnected", "connected"]);

  // Another loss, later: the limits count anew.
  clock.advance(60_000);
  await third.close();
  const fourth = await carrier.acceptAndShakeHands();
  const { id } = await fourth.request("process/read");
  clock.advance(49_000);
  fourth.answer(id, answer);
  assert.equal((await client.connection()).generation, 4);
  await client.end();
});

Deno.test("a connection that is lost between initialize and the end of the replay is not given to anybody", async () => {
  const gate = Promise.withResolvers<void>();
  const { client, carrier, clock, server } = await connected({ parts: [{ replay: () => gate.promise }] });
  await server.close();
  const second = await carrier.acceptAndShakeHands();
  await second.close();
  gate.resolve();
  await pass(clock, 100, () => carrier.attempts === 3);
  await carrier.acceptAndShakeHands();
  assert.equal((await client.connection()).generation, 3);
  await client.end();
});

Deno.test("an older connection is not listened to, and its end means nothing", async () => {
  const heard: ServerEvent[] = [];
  const { client, carrier, server } = await connected({ parts: [{ notification: (event) => void heard.push(event) }] });
  const old = await client.connection();
  old.close("we say so");
  server.send({ method: "process/closed", params: { processId: "late", seq: 1 } });
  const next = await carrier.acceptAndShakeHands();
  await client.connection();
  old.close("again");
  next.send({ method: "process/closed", params: { processId: "new", seq: 1 } });
  await idle();
  assert.equal(client.state, "connected");
  assert.equal(carrier.attempts, 2);
  assert.deepEqual(heard.map(({ params }) => (params as { processId: string }).processId), ["new"]);
  await client.end();
});

Deno.test("the reason for a loss that is known is part of every text that follows", async () => {
  const { client, carrier, server } = await connected();
  server.send({ method: "process/closed", params: {} });
  const next = await carrier.accept();
  next.refuse((await next.request("initialize")).id, -32600, "no");
  await assert.rejects(client.connection(), {
    message:
      `${LOST}: exec-server notification handling failed: failed to serialize or deserialize exec-server JSON: ` +
      "missing field `processId`; failed to resume exec-server session: exec-server rejected request (-32600): no",
  });
  await client.end();
});

Deno.test("what the server does once however often it hears it is repeated until it is answered", async () => {
  const { client, carrier, server } = await connected();
  const params = { processId: "p", chunk: new Uint8Array(1), writeId: "1" };
  const write = client.callUntilAnswered("process/write", params);
  const first = await server.request("process/write");
  await server.close();
  const second = await carrier.acceptAndShakeHands();
  const again = await second.request("process/write");
  assert.deepEqual(again.params, first.params);
  await second.close();
  const third = await carrier.acceptAndShakeHands();
  third.refuse((await third.request("process/write")).id, -32603, "no more");
  await assert.rejects(write, { kind: "server", message: "exec-server rejected request (-32603): no more" });
  await client.end();
});

Deno.test("a server that calls its transport closed, over one that is not, is asked again after a pause", async () => {
  const { client, clock, server } = await connected();
  const refuse = async () => server.refuse((await server.next()).id, -32000, "JSON-RPC transport closed");
  const params = { processId: "p", afterSeq: 0, maxBytes: null, waitMs: 0 };
  const read = client.callUntilAnswered("process/read", params);
  await refuse();
  await idle();
  assert.deepEqual(server.unread, []);
  clock.advance(100);
  const answer = { chunks: [], nextSeq: 1, exited: false, exitCode: null, closed: false };
  server.answer((await server.request("process/read")).id, answer);
  assert.equal((await read).nextSeq, 1);

  const aborter = new AbortController();
  const impatient = client.callUntilAnswered("process/read", params, { signal: aborter.signal });
  await refuse();
  await idle();
  aborter.abort(new Error("enough"));
  await assert.rejects(impatient, { message: "enough" });
  const ended = assert.rejects(client.callUntilAnswered("process/read", params), { kind: "closed" });
  await refuse();
  await idle();
  await client.end();
  await ended;
  assert.equal(clock.pendingTimers, 0);
});

Deno.test("a client that ends during its recovery leaves neither attempt nor timer nor anybody waiting", async () => {
  const acts: ((carrier: ScriptedCarrier) => Promise<void>)[] = [
    // While it dials: the carrier does as it is told.
    async (carrier) => {
      carrier.acts.push(({ signal }) =>
        new Promise((_, reject) => signal.addEventListener("abort", () => reject(signal.reason)))
      );
      await idle();
    },
    // While it waits for the answer to initialize.
    async (carrier) => void await (await carrier.accept()).request("initialize"),
    // While it pauses.
    async (carrier) => {
      const next = await carrier.accept();
      next.refuse((await next.request("initialize")).id, -32010, "attached");
      await next.end;
    },
  ];
  for (const act of acts) {
    const { client, carrier, clock, server } = await connected();
    await server.close();
    const acting = act(carrier);
    await acting;
    const waiting = client.call("environment/status", null);
    const rejected = assert.rejects(waiting, { kind: "closed", message: "exec-server transport closed" });
    await client.end();
    await rejected;
    assert.equal(clock.pendingTimers, 0);
    assert.equal(client.state, "failed");
    assert.equal(client.signal.aborted, true);
  }
});

Deno.test("a client that ends waits until what held its connection is gone", async () => {
  const carrier = new ScriptedCarrier();
  const gone = Promise.withResolvers<void>();
  carrier.acts.push(() => Promise.resolve({ gone: gone.promise }));
  const options: ClientOptions = { clock: new ManualClock() };
  const connecting = ExecClient.connect(carrier, options);
  const server = await carrier.acceptAndShakeHands();
  const client = await connecting;
  const pending = client.call("environment/status", null);
  const rejected = assert.rejects(pending, { kind: "closed", message: "exec-server transport closed" });
  let ended = false;
  const ending = client[Symbol.asyncDispose]().then(() => ended = true);
  await server.end;
  await rejected;
  await idle();
  assert.equal(ended, false);
  gone.resolve();
  await ending;
});
