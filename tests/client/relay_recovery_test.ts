import assert from "node:assert/strict";
import { LazyClient } from "../../lib/client/lazy_client.ts";
import { registryPauseMs } from "../../lib/client/registry_pause.ts";
import { encodeReset } from "../../lib/relay/stream/frame.ts";
import { FarEnd, INFO } from "../support/scripted_server.ts";
import { askedAt, connected, EXECUTORS, lose, refusal, RelayWorld } from "./support/relay_world.ts";

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

Deno.test("a look-up for a refresh is given up by its signal", async () => {
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
