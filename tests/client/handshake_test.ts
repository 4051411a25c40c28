import assert from "node:assert/strict";
import { ExecClient } from "../../lib/client/client.ts";
import type { ServerEvent } from "../../lib/client/client_part.ts";
import { connectError } from "../../lib/client/client_error.ts";
import { ManualClock } from "../support/manual_clock.ts";
import { INFO, ScriptedCarrier } from "../support/scripted_server.ts";

const INITIALIZE = { clientName: "codex-core", resumeSessionId: null };
/** What the least info means. */
const KNOWN_INFO = { shell: { name: "bash", path: "/bin/bash" }, executorVersion: "0.0.0", capabilities: {} };

Deno.test("the handshake is initialize and then initialized, and gives the session", async () => {
  const carrier = new ScriptedCarrier();
  const states: string[] = [];
  const connecting = ExecClient.connect(carrier, { onState: (state) => void states.push(state) });
  const server = await carrier.accept();
  assert.deepEqual(await server.shakeHands(), INITIALIZE);
  const client = await connecting;
  assert.equal(client.sessionId, "s1");
  assert.equal(client.state, "connected");
  assert.deepEqual(states, ["connected"]);
  await client[Symbol.asyncDispose]();
  assert.deepEqual(states, ["connected", "disconnected"]);
  await server.end;
});

Deno.test("the handshake names the client and the session to take over, which the server must confirm", async () => {
  const carrier = new ScriptedCarrier();
  const options = { clientName: "me", resumeSessionId: "s9" };
  const connecting = ExecClient.connect(carrier, options);
  assert.deepEqual(await (await carrier.accept()).shakeHands({ sessionId: "s9" }), options);
  await using client = await connecting;
  assert.equal(client.sessionId, "s9");

  const misled = ExecClient.connect(carrier, options);
  const server = await carrier.accept();
  server.answer((await server.request("initialize")).id, { sessionId: "other" });
  await assert.rejects(misled, {
    kind: "protocol",
    retryable: false,
    message: "exec-server protocol error: exec-server initialized an unexpected session other",
  });
  await server.end;
});

Deno.test("the handshake has its time, and the carrier's own part of it counts", async () => {
  for (
    const [act, waitMs] of [[undefined, 1500], [() => Promise.resolve({ initializeTimeoutMs: 200 }), 200]] as const
  ) {
    const carrier = new ScriptedCarrier();
    if (act !== undefined) carrier.acts.push(act);
    const clock = new ManualClock();
    const connecting = ExecClient.connect(carrier, { clock, initializeTimeoutMs: 1500 });
    const server = await carrier.accept();
    await server.request("initialize");
    clock.advance(waitMs - 1);
    assert.equal(server.ended, false);
    clock.advance(1);
    await assert.rejects(connecting, {
      kind: "initializeTimeout",
      retryable: true,
      message: "timed out waiting for exec-server initialize handshake after 1.5s",
    });
    await server.end;
    assert.equal(clock.pendingTimers, 0);
  }
});

Deno.test("the handshake lets notifications pass that come before its answer", async () => {
  const carrier = new ScriptedCarrier();
  const heard: ServerEvent[] = [];
  const connecting = ExecClient.connect(carrier, { onNotification: (event) => void heard.push(event) });
  const server = await carrier.accept();
  for (let seq = 1; seq <= 5000; seq++) {
    server.send({ method: "process/closed", params: { processId: "p", seq } });
  }
  await server.shakeHands();
  await using _client = await connecting;
  assert.equal(heard.length, 5000);
});

Deno.test("the handshake fails when the server refuses it, tells nonsense, or goes away", async () => {
  const cases: { answer: object | null; failure: object }[] = [
    {
      answer: { error: { code: -32600, message: "unknown session id s9" } },
      failure: { kind: "server", code: -32600, retryable: false },
    },
    { answer: { error: { code: -32010, message: "attached" } }, failure: { kind: "server", retryable: true } },
    {
      answer: { result: {} },
      failure: { message: "failed to serialize or deserialize exec-server JSON: missing field `sessionId`" },
    },
    {
      answer: { result: { sessionId: "s1", environmentInfo: {} } },
      failure: { message: "failed to serialize or deserialize exec-server JSON: missing field `shell`" },
    },
    {
      answer: null,
      failure: { kind: "disconnected", retryable: true, message: "exec-server transport disconnected" },
    },
  ];
  for (const { answer, failure } of cases) {
    const carrier = new ScriptedCarrier();
    const clock = new ManualClock();
    const failed = assert.rejects(ExecClient.connect(carrier, { clock }), { name: "ClientError", ...failure });
    const server = await carrier.accept();
    const { id } = await server.request("initialize");
    if (answer === null) await server.close();
    else server.send({ id, ...answer });
    await failed;
    await server.end;
    assert.equal(carrier.attempts, 1, "nobody tries again");
    assert.equal(clock.pendingTimers, 0);
  }
});

Deno.test("the handshake is not begun when the carrier has no connection", async () => {
  const carrier = new ScriptedCarrier();
  const refused = connectError("ws://test", "refused");
  carrier.acts.push(() => Promise.reject(refused));
  await assert.rejects(ExecClient.connect(carrier), (error) => error === refused);
});

Deno.test("the attempt is given up when its signal says so, whatever the carrier does", async () => {
  const carrier = new ScriptedCarrier();
  const late = Promise.withResolvers<void>();
  carrier.acts.push(() => late.promise);
  const aborter = new AbortController();
  const connecting = ExecClient.connect(carrier, { signal: aborter.signal });
  aborter.abort(new Error("enough"));
  late.resolve();
  const server = await carrier.accept();
  await assert.rejects(connecting, { message: "enough" });
  await server.end;
  assert.deepEqual(server.unread, []);
  await assert.rejects(ExecClient.connect(carrier, { signal: aborter.signal }), { message: "enough" });
  assert.equal(carrier.attempts, 1, "no attempt is made that is given up already");
});

Deno.test("info that initialize told is not asked for, and stays the same over connections", async () => {
  const carrier = new ScriptedCarrier();
  const connecting = ExecClient.connect(carrier);
  const server = await carrier.acceptAndShakeHands();
  await using client = await connecting;
  const info = await client.info();
  assert.deepEqual({ ...info, ...KNOWN_INFO }, info);
  await server.close();
  await carrier.acceptAndShakeHands({ sessionId: "s1", environmentInfo: { shell: { name: "zsh", path: "/bin/zsh" } } });
  assert.equal(await client.info(), info);
});

Deno.test("info that initialize did not tell is asked for once, within 30 s, and again if that failed", async () => {
  const carrier = new ScriptedCarrier();
  const clock = new ManualClock();
  const connecting = ExecClient.connect(carrier, { clock });
  const server = await carrier.acceptAndShakeHands({ sessionId: "s1", environmentInfo: null });
  await using client = await connecting;
  const aborter = new AbortController();
  const impatient = client.info({ signal: aborter.signal });
  const failing = client.info();
  assert.deepEqual(await server.next(), { id: 2, method: "environment/info", params: null });
  aborter.abort(new Error("enough"));
  await assert.rejects(impatient, { message: "enough" });
  clock.advance(30_000);
  await assert.rejects(failing, {
    kind: "callTimeout",
    message: "exec-server protocol error: timed out waiting for exec-server `environment/info` response after 30s",
  });

  const both = [client.info(), client.info()];
  server.answer((await server.request("environment/info")).id, INFO);
  const [first, second] = await Promise.all(both);
  assert.equal(first, second);
  assert.equal(await client.info(), first);
  assert.deepEqual(server.unread, []);
});

Deno.test("status asks over a living connection within 10 s, and waits for none", async () => {
  const carrier = new ScriptedCarrier();
  const clock = new ManualClock();
  const connecting = ExecClient.connect(carrier, { clock });
  const server = await carrier.acceptAndShakeHands();
  await using client = await connecting;
  const ready = client.status();
  const { id, params } = await server.request("environment/status");
  assert.equal(params, null);
  server.answer(id, { status: "ready" });
  assert.deepEqual(await ready, { state: "ready" });

  const silent = client.status();
  await server.request("environment/status");
  clock.advance(10_000);
  assert.deepEqual(await silent, {
    state: "disconnected",
    error: "exec-server protocol error: timed out waiting for exec-server `environment/status` response after 10s",
  });

  const cut = client.status();
  await server.request("environment/status");
  await server.close();
  assert.deepEqual(await cut, { state: "disconnected", error: "exec-server transport disconnected" });
  assert.deepEqual(await client.status(), { state: "disconnected", error: "exec-server environment is recovering" });
});

Deno.test("a time limit that no timer can wait is refused by name", async () => {
  const carrier = new ScriptedCarrier();
  for (const name of ["initializeTimeoutMs", "attachDeadlineMs", "recoveryDeadlineMs"]) {
    for (const ms of [Infinity, NaN, -1, 2 ** 31]) {
      await assert.rejects(ExecClient.connect(carrier, { [name]: ms }), {
        name: "RangeError",
        message: `${name} must be from 0 to 2147483647 milliseconds, not ${ms}`,
      });
    }
  }
  assert.equal(carrier.attempts, 0);
  const connecting = ExecClient.connect(carrier);
  await carrier.acceptAndShakeHands();
  await using client = await connecting;
  await assert.rejects(client.call("environment/status", null, { timeoutMs: Infinity }), { name: "RangeError" });
});
