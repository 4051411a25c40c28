import assert from "node:assert/strict";
import { ClientError } from "../../lib/client/client_error.ts";
import { DialError } from "../../lib/relay/socket/relay_socket.ts";
import { askedAt, brokenAnswer, close, open, refusal, RelayWorld, SHOWN } from "./support/relay_world.ts";

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
