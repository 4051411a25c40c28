import assert from "node:assert/strict";
import type { Carrier } from "../../lib/client/carrier.ts";
import { ClientError, connectError } from "../../lib/client/client_error.ts";
import { LazyClient } from "../../lib/client/lazy_client.ts";
import { ManualClock } from "../support/manual_clock.ts";
import { type FarEnd, idle, INFO, ScriptedCarrier } from "../support/scripted_server.ts";

const ATTEMPT = "exec-server connection attempt failed: ";
const REPLACED = "exec-server executor was replaced";

/** An environment behind a registry: who executes there now, and connections to that one. */
class Registry implements Carrier {
  readonly label = "registry";
  readonly resume = { pauseMs: () => 100 };
  readonly renewable = true;
  executor = "a";
  lookUps = 0;
  /** Runs while a look-up is under way. */
  onLookUp: () => void | Promise<void> = () => {};
  readonly #carriers = new Map<string, ScriptedCarrier>();

  /** The connections to one executor. */
  of(executor: string): ScriptedCarrier {
    const carrier = this.#carriers.get(executor) ?? new ScriptedCarrier();
    this.#carriers.set(executor, carrier);
    return carrier;
  }

  open = (options: Parameters<Carrier["open"]>[0]) => this.#openTo(this.executor, options);

  lookUp = async (signal: AbortSignal) => {
    this.lookUps++;
    const { executor } = this;
    await this.onLookUp();
    signal.throwIfAborted();
    // Its first connection goes to the one that was found, later ones to whoever is there then.
    let found: string | undefined = executor;
    const carrier: Carrier = {
      label: this.label,
      resume: this.resume,
      renewable: true,
      open: (options) => {
        const target = found ?? this.executor;
        found = undefined;
        return this.#openTo(target, options);
      },
    };
    return { executor, carrier };
  };

  async #openTo(executor: string, options: Parameters<Carrier["open"]>[0]) {
    return { ...await this.of(executor).open(options), executor };
  }
}

function scene() {
  const registry = new Registry();
  const client = new LazyClient(registry, { clock: new ManualClock() });
  const states: string[] = [];
  client.states.subscribe((state) => void states.push(state));
  return { registry, client, states };
}

async function shake(carrier: ScriptedCarrier, sessionId: string): Promise<FarEnd> {
  return await carrier.acceptAndShakeHands({ sessionId, environmentInfo: INFO });
}

async function probe(server: FarEnd): Promise<void> {
  server.answer((await server.request("environment/status")).id, { status: "ready" });
}

Deno.test("only behind a registry a connection can be refreshed", async () => {
  await using client = new LazyClient(new ScriptedCarrier());
  await assert.rejects(client.refresh(), {
    kind: "protocol",
    message: "exec-server protocol error: connection refresh requires a Noise registry",
  });
});

Deno.test("a refresh that finds the same executor keeps the session, and asks whether it is there", async () => {
  const { registry, client, states } = scene();
  const got = client.get();
  const server = await shake(registry.of("a"), "s1");
  const first = await got;
  const refreshed = client.refresh();
  await probe(server);
  await refreshed;
  assert.equal(await client.get(), first);
  assert.deepEqual(states, ["connected"]);
  const refused = assert.rejects(client.refresh(), { kind: "server", code: -32603 });
  server.refuse((await server.request("environment/status")).id, -32603, "not well");
  await refused;
  await client[Symbol.asyncDispose]();
});

Deno.test("a refresh that finds another executor ends the session, and makes one with that", async () => {
  const { registry, client, states } = scene();
  const got = client.get();
  const old = await shake(registry.of("a"), "s1");
  const first = await got;
  const call = assert.rejects(first.call("environment/status", null), { kind: "disconnected", message: REPLACED });
  await old.request("environment/status");
  registry.executor = "b";
  const refreshed = client.refresh();
  await call;
  await old.end;
  const meanwhile = client.get();
  const server = await shake(registry.of("b"), "s2");
  await probe(server);
  await refreshed;
  const second = await client.get();
  assert.equal(await meanwhile, second);
  assert.equal(second.sessionId, "s2");
  assert.equal(first.failure?.message, REPLACED);
  assert.deepEqual(states, ["connected", "disconnected", "connected"]);
  await client[Symbol.asyncDispose]();
});

Deno.test("a refresh does not wait for the recovery of the old connection, which goes on no more", async () => {
  const { registry, client } = scene();
  const got = client.get();
  const old = await shake(registry.of("a"), "s1");
  const first = await got;
  registry.of("a").acts.push(() => new Promise(() => {}));
  await old.close();
  assert.equal(first.state, "recovering");
  registry.executor = "b";
  const refreshed = client.refresh();
  await probe(await shake(registry.of("b"), "s2"));
  await refreshed;
  assert.equal(first.failure?.message, REPLACED);
  assert.equal(registry.of("a").attempts, 2);
  assert.equal((await client.get()).sessionId, "s2");
  // What never opened cannot be waited for.
  void client[Symbol.asyncDispose]();
});

Deno.test("a refresh that finds the same executor while its connection is being recovered says so", async () => {
  const { registry, client } = scene();
  const got = client.get();
  const old = await shake(registry.of("a"), "s1");
  const first = await got;
  const gate = Promise.withResolvers<void>();
  registry.of("a").acts.push(() => gate.promise);
  await old.close();
  await assert.rejects(client.refresh(), { kind: "unavailable", message: "exec-server environment is recovering" });
  gate.resolve();
  await shake(registry.of("a"), "s1");
  await idle();
  assert.equal(first.state, "connected");
  await client[Symbol.asyncDispose]();
});

Deno.test("an attempt that a refresh has overtaken never installs its client", async () => {
  const { registry, client } = scene();
  const got = assert.rejects(client.get(), {
    kind: "attempt",
    retryable: true,
    message: `${ATTEMPT}connection attempt was superseded`,
  });
  const slow = await registry.of("a").accept();
  const { id } = await slow.request("initialize");
  registry.executor = "b";
  const refreshed = client.refresh();
  // Its handshake ends in the very moment in which the refresh has its answer.
  slow.answer(id, { sessionId: "s1", environmentInfo: INFO });
  await probe(await shake(registry.of("b"), "s2"));
  await refreshed;
  await got;
  await slow.end;
  assert.equal((await client.get()).sessionId, "s2");
  await client[Symbol.asyncDispose]();
});

Deno.test("a client that came while a refresh was looking up makes it look again", async () => {
  const { registry, client } = scene();
  const gate = Promise.withResolvers<void>();
  registry.onLookUp = () => gate.promise;
  const refreshed = client.refresh();
  await idle();
  const got = client.get();
  const server = await shake(registry.of("a"), "s1");
  const first = await got;
  gate.resolve();
  await probe(server);
  await refreshed;
  assert.equal(registry.lookUps, 2);
  assert.equal(await client.get(), first);
  await client[Symbol.asyncDispose]();
});

Deno.test("refreshes come one after the other, and one that fails does not hold up the next", async () => {
  const { registry, client } = scene();
  const gate = Promise.withResolvers<void>();
  registry.onLookUp = () => gate.promise;
  const refused = new ClientError("configuration", "no such environment");
  const first = assert.rejects(client.refresh(), refused);
  const second = client.refresh();
  await idle();
  assert.equal(registry.lookUps, 1);
  registry.onLookUp = () => {};
  gate.reject(refused);
  await first;
  await probe(await shake(registry.of("a"), "s1"));
  await second;
  await client[Symbol.asyncDispose]();
});

Deno.test("a refresh whose new executor cannot be reached fails, and a later use tries again", async () => {
  const { registry, client } = scene();
  const got = client.get();
  await shake(registry.of("a"), "s1");
  await got;
  registry.executor = "b";
  const refused = connectError("ws://b", "HTTP error: 503 Service Unavailable");
  registry.of("b").acts.push(() => Promise.reject(refused));
  await assert.rejects(client.refresh(), { kind: "attempt", message: ATTEMPT + refused.message });
  assert.deepEqual(await client.status(), { state: "disconnected", error: REPLACED });
  const again = client.get();
  await shake(registry.of("b"), "s2");
  assert.equal((await again).sessionId, "s2");
  await client[Symbol.asyncDispose]();
});

Deno.test("what was wrong with one executor is not held against the next", async () => {
  const { registry, client } = scene();
  registry.of("a").acts.push(() => Promise.reject(new ClientError("configuration", "no key fits")));
  const verdict = { kind: "attempt", message: `${ATTEMPT}no key fits` };
  await assert.rejects(client.get(), verdict);
  await assert.rejects(client.get(), verdict);
  registry.executor = "b";
  const refreshed = client.refresh();
  const server = await shake(registry.of("b"), "s1");
  await probe(server);
  await refreshed;
  await (await client.get()).end();
  const again = client.get();
  await shake(registry.of("b"), "s2");
  assert.equal((await again).sessionId, "s2");
  await client[Symbol.asyncDispose]();
});

Deno.test("a client that ends as a refresh has its answer connects no more", async () => {
  const { registry, client } = scene();
  let disposed: Promise<void> | undefined;
  registry.lookUp = () => {
    const answer = Promise.resolve({ executor: "a", carrier: registry });
    // Behind whoever hears the answer first, in front of whoever waits for that one.
    void answer.then(() => {}).then(() => disposed = client[Symbol.asyncDispose]());
    return answer as ReturnType<Registry["lookUp"]>;
  };
  await assert.rejects(client.refresh(), { kind: "closed" });
  await disposed;
  await idle();
  assert.equal(registry.of("a").attempts, 0);
});

Deno.test("a refresh can be given up, and ends with its client", async () => {
  const { registry, client } = scene();
  registry.onLookUp = () => new Promise(() => {});
  const giveUp = new AbortController();
  const first = assert.rejects(client.refresh(giveUp.signal), { message: "no more" });
  giveUp.abort(new Error("no more"));
  await first;
  const second = assert.rejects(client.refresh(), { message: "exec-server transport closed" });
  await client[Symbol.asyncDispose]();
  await second;
});
