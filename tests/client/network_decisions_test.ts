import assert from "node:assert/strict";
import type { NetworkDecider, NetworkDecision, NetworkQuestion } from "../../lib/client/process.ts";
import { idle } from "../support/scripted_server.ts";
import { closed, exited, readOf } from "./support/events.ts";
import { ProcessClient } from "./support/process_client.ts";

const DENIED = { decision: { type: "deny", reason: "not_allowed" } };
const PROXY = {
  proxy: {
    enabled: true,
    enableSocks5: false,
    enableSocks5Udp: false,
    allowUpstreamProxy: false,
    dangerouslyAllowAllUnixSockets: false,
    mode: "limited",
    domains: null,
    unixSockets: null,
    allowLocalBinding: false,
    reviewDomains: [],
    transparentTcp: false,
    credentialMasking: false,
    credentialProviders: new Map(),
  },
  auditMetadata: {
    conversationId: null,
    appVersion: null,
    userAccountId: null,
    authMode: null,
    originator: null,
    userEmail: null,
    terminalType: null,
    model: null,
    slug: null,
  },
  environmentId: null,
  executionId: null,
} as const;

/** Options of a start with a decider. */
function decidedBy(networkDecider: NetworkDecider, policyDecisionTimeoutMs = 1_000) {
  return { networkDecider, networkProxy: { ...PROXY, policyDecisionTimeoutMs } };
}

function ask(client: ProcessClient, id: number, request: Partial<NetworkQuestion> = {}): void {
  const { processId = "p", ...rest } = request;
  client.far.send({
    id,
    method: "network/policyRequest",
    params: { processId, request: { protocol: "https_connect", host: "example.test", port: 443, ...rest } },
  });
}

async function answerOf(client: ProcessClient, id: number): Promise<unknown> {
  const { id: answered, result, error } = await client.far.next();
  assert.equal(answered, id);
  return result ?? error;
}

Deno.test("a decider is asked what the server asked, and its decision is the answer", async () => {
  await using client = await ProcessClient.connect();
  const questions: NetworkQuestion[] = [];
  const decisions: NetworkDecision[] = [
    { type: "allow" },
    { type: "deny", reason: "too far" },
    { type: "ask", reason: "" },
  ];
  await client.start(
    "p",
    decidedBy((question) => {
      questions.push(question);
      return Promise.resolve(decisions[questions.length - 1]!);
    }),
  );
  for (const [id, decision] of decisions.entries()) {
    ask(client, id);
    assert.deepEqual(await answerOf(client, id), { decision });
  }
  assert.deepEqual(questions[0], { processId: "p", protocol: "https_connect", host: "example.test", port: 443 });
});

Deno.test("a question may come before the answer to the start", async () => {
  await using client = await ProcessClient.connect();
  const allow = decidedBy(() => Promise.resolve({ type: "allow" }));
  const started = client.processes.start({ argv: ["x"], processId: "p", ...allow });
  const { id, params } = await client.far.request("process/start");
  assert.equal(params.networkProxy.policyDecisionTimeoutMs, 1_000);
  ask(client, 1);
  assert.deepEqual(await answerOf(client, 1), { decision: { type: "allow" } });
  client.far.answer(id, { processId: "p" });
  await started;
});

Deno.test("what nobody can decide is denied", async () => {
  await using client = await ProcessClient.connect();
  await client.start("undecided");
  let asked = 0;
  const allow = decidedBy(() => {
    asked++;
    return Promise.resolve({ type: "allow" });
  });
  await client.start("p", allow);
  await client.start("", allow);
  await client.start("i".repeat(257), allow);
  const questions: Partial<NetworkQuestion>[] = [
    { processId: "unknown" },
    { processId: "undecided" },
    { processId: "" },
    { processId: "i".repeat(257) },
    { host: "" },
    { host: "a".repeat(254) },
    { host: "é".repeat(127) },
    { host: "a b" },
    { host: "a\u00a0b" },
    { host: "a\nb" },
    { host: "a\u0085b" },
  ];
  for (const [id, question] of questions.entries()) {
    ask(client, id, question);
    assert.deepEqual(await answerOf(client, id), DENIED, JSON.stringify(question));
  }
  assert.equal(asked, 0);
  ask(client, 100, { host: "a".repeat(253) });
  assert.deepEqual(await answerOf(client, 100), { decision: { type: "allow" } });
});

Deno.test("params that are no question are refused", async () => {
  await using client = await ProcessClient.connect();
  for (const params of [null, {}, { processId: "p", request: { protocol: "ftp", host: "x", port: 1 } }]) {
    client.far.send({ id: 7, method: "network/policyRequest", params });
    assert.deepEqual(await answerOf(client, 7), { code: -32602, message: "invalid network policy request params" });
    await idle();
  }
});

Deno.test("a reason that is too long, or holds control characters, is not passed on", async () => {
  await using client = await ProcessClient.connect();
  const reasons = ["r".repeat(1025), "a\nb", "é".repeat(513)];
  let next = 0;
  await client.start("p", decidedBy(() => Promise.resolve({ type: "ask", reason: reasons[next++]! })));
  for (const id of reasons.keys()) {
    ask(client, id);
    assert.deepEqual(await answerOf(client, id), { decision: { type: "ask", reason: "not_allowed" } });
  }
});

Deno.test("what is no decision denies", async () => {
  await using client = await ProcessClient.connect();
  const noDecisions = [undefined, null, 7, "allow", {}, { type: "allowed" }, { type: "deny" }, {
    type: "deny",
    reason: 5,
  }];
  let next = 0;
  await client.start("p", decidedBy(() => Promise.resolve(noDecisions[next++] as NetworkDecision)));
  for (const id of noDecisions.keys()) {
    ask(client, id);
    assert.deepEqual(await answerOf(client, id), DENIED, JSON.stringify(noDecisions[id]));
  }
});

Deno.test("a decider may have more time than a timer of the platform can wait", async () => {
  await using client = await ProcessClient.connect();
  const decision = Promise.withResolvers<NetworkDecision>();
  await client.start("p", decidedBy(() => decision.promise, 2 ** 40));
  ask(client, 1);
  await idle();
  client.clock.advance(2 ** 32);
  decision.resolve({ type: "allow" });
  assert.deepEqual(await answerOf(client, 1), { decision: { type: "allow" } });
});

Deno.test("a decider that fails, throws at once or takes too long denies", async () => {
  await using client = await ProcessClient.connect();
  let signal: AbortSignal | undefined;
  const deciders: NetworkDecider[] = [
    () => Promise.reject(new Error("no idea")),
    () => {
      throw new Error("no idea");
    },
    (_, given) => {
      signal = given;
      return new Promise(() => {});
    },
  ];
  let next = 0;
  await client.start("p", decidedBy((...asked) => deciders[next++]!(...asked)));
  for (const id of [0, 1]) {
    ask(client, id);
    assert.deepEqual(await answerOf(client, id), DENIED);
  }
  ask(client, 2);
  await idle();
  client.clock.advance(999);
  assert.equal(signal?.aborted, false);
  client.clock.advance(1);
  assert.equal(signal?.aborted, true);
  assert.deepEqual(await answerOf(client, 2), DENIED);
});

Deno.test("256 decisions may be in work at once, those of lost connections included; one more is denied", async () => {
  await using client = await ProcessClient.connect();
  const pending: ((decision: NetworkDecision) => void)[] = [];
  await client.start("p", decidedBy(() => new Promise((resolve) => pending.push(resolve))));
  for (let id = 1; id <= 256; id++) ask(client, id);
  ask(client, 257);
  assert.deepEqual(await answerOf(client, 257), DENIED);
  await client.reconnect();
  await client.answerRead(0, readOf([]));
  ask(client, 1);
  assert.deepEqual(await answerOf(client, 1), DENIED, "the deciders are still at work");
  for (const decide of pending) decide({ type: "allow" });
  await idle();
  assert.deepEqual(client.far.unread, [], "what was decided for the old connection is not sent on the new one");
  ask(client, 2);
  await idle();
  pending.at(-1)!({ type: "allow" });
  assert.deepEqual(await answerOf(client, 2), { decision: { type: "allow" } });
});

Deno.test("a decision for a process that is gone, or about to be, is not sent", async () => {
  await using client = await ProcessClient.connect();
  for (const end of ["closed", "terminated"]) {
    let decide: ((decision: NetworkDecision) => void) | undefined;
    let signal: AbortSignal | undefined;
    const process = await client.start(end, {
      ...decidedBy((_, given) => {
        signal = given;
        return new Promise((resolve) => decide = resolve);
      }),
    });
    ask(client, 1, { processId: end });
    await idle();
    if (end === "closed") client.tell([exited(1), closed(2)], end);
    else {
      const terminated = process.terminate();
      client.far.answer((await client.far.request("process/terminate")).id, { running: true });
      await terminated;
    }
    await idle();
    assert.equal(signal?.aborted, true);
    decide!({ type: "allow" });
    await idle();
    assert.deepEqual(client.far.unread, []);
    ask(client, 2, { processId: end });
    assert.deepEqual(await answerOf(client, 2), DENIED);
  }
});

Deno.test("a decider and a time for it belong together", async () => {
  await using client = await ProcessClient.connect();
  const allow: NetworkDecider = () => Promise.resolve({ type: "allow" });
  const bad = [
    { networkDecider: allow },
    { networkDecider: allow, networkProxy: { ...PROXY, policyDecisionTimeoutMs: null } },
    decidedBy(allow, 0),
    { networkProxy: { ...PROXY, policyDecisionTimeoutMs: 1 } },
  ];
  for (const options of bad) {
    await assert.rejects(client.processes.start({ argv: ["x"], ...options }), {
      kind: "protocol",
      message: "exec-server protocol error: network policy decision callback timeout must match the configured " +
        "decider and be nonzero",
    });
  }
  assert.deepEqual(client.far.unread, []);
});

Deno.test("an audit record of a decision is passed on, and one that is none costs nothing", async () => {
  await using client = await ProcessClient.connect();
  const heard: string[] = [];
  client.core.add({ notification: ({ method }) => void heard.push(method) });
  const record = {
    processId: "p",
    timestamp: "2026-01-01T00:00:00Z",
    scope: "domain",
    decision: "deny",
    source: "baseline_policy",
    reason: "not_allowed",
    protocol: "http",
    host: "elsewhere.test",
    port: 80,
    policyOverride: false,
  };
  for (const params of [{ ...record, port: -1 }, null, record]) {
    client.far.send({ method: "network/policyDecision", params });
  }
  await idle();
  assert.deepEqual(heard, ["network/policyDecision"]);
  assert.equal(client.core.state, "connected");
});
