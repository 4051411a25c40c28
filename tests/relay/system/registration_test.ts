import assert from "node:assert/strict";
import { REGISTER_TIMEOUT_MS } from "../../../lib/relay/limits.ts";
import { eventually } from "../../program/eventually.ts";
import { ManualClock } from "../../support/manual_clock.ts";
import { allOf } from "../support/all_of.ts";
import type { Answer } from "../support/registry.ts";
import { relayTest, Rig } from "../support/rig.ts";

const conflict = { status: 503, body: { error: { code: "registration_conflict", message: "secret-words" } } };
const unavailable = { status: 502, body: { detail: { code: "authentication_service_unavailable", message: "m" } } };

relayTest("a registration is repeated where that is safe, and nowhere else", async () => {
  const clock = new ManualClock();
  await using rig = Rig.begin(({ registry }) => registry.next("register", conflict, unavailable, conflict), { clock });
  const { registry, rendezvous } = rig.world;
  for (let count = 1; count <= 4; count++) {
    await registry.asked("register", count);
    await eventually("the pause has begun, or it is registered", () => {
      assert.ok(clock.pendingTimers > 0);
      clock.advance(200);
      assert.ok(registry.requestsOf("register").length > count || rendezvous.peers.length > 0);
    });
  }
  await rig.executor();
  assert.equal(registry.requestsOf("register").length, 4);
});

/** Each of them ends the executor after one request. */
const FINAL: readonly (readonly [what: string, answer: Answer])[] = [
  ...[301, 400, 401, 403, 404, 408, 409, 429, 500, 502, 503, 504].map((status) => {
    return [`status ${status}`, { status, body: { error: { code: "other", message: "why" } } }] as const;
  }),
  ["no JSON", { body: "<html>" }],
  ["JSON of another kind", { body: ["a"] }],
  ["a body that breaks off", { cutAfterBytes: 20 }],
  ["no registration id", { but: { executor_registration_id: undefined } }],
  ["a blank registration id", { but: { executor_registration_id: " " } }],
  ["no URL", { but: { url: undefined } }],
  ["a URL that is none of a WebSocket", { but: { url: "https://127.0.0.1/" } }],
  ["another environment", { but: { environment_id: "another" } }],
  ["another security profile", { but: { security_profile: "none" } }],
  ["a body that never ends", { body: "x".repeat(2_000_000) }],
];

relayTest("an answer that does not register ends the executor after one request, with a reason", async () => {
  await allOf(FINAL.map(async ([what, answer]) => {
    await using rig = Rig.begin(({ registry }) => registry.always("register", answer));
    await assert.rejects(rig.ended, (error: Error) => {
      assert.ok(error.message.length > 10, `${what}: ${error.message}`);
      assert.ok(!error.message.includes(rig.world.rendezvous.secret), `${what}: the capability is told`);
      return true;
    });
    assert.equal(rig.world.registry.requests.length, 1, what);
    assert.equal(rig.world.rendezvous.upgrades.length, 0, what);
  }));
});

relayTest("a registry that does not answer ends the executor after ten seconds", async () => {
  const clock = new ManualClock();
  await using rig = Rig.begin(({ registry }) => registry.always("register", { hang: true }), { clock });
  await rig.world.registry.asked("register");
  await eventually("there is a limit", () => assert.ok(clock.pendingTimers > 0));
  clock.advance(REGISTER_TIMEOUT_MS);
  await assert.rejects(rig.ended, /timed out/);
});

relayTest("an executor that is told to stop leaves nothing, whatever it waits for", async () => {
  const waits: readonly ((rig: Rig) => Promise<unknown>)[] = [
    ({ world }) => world.registry.asked("register"),
    ({ world }) => world.rendezvous.until("an upgrade", () => world.rendezvous.upgrades.length > 0),
    (rig) => rig.executor(),
  ];
  for (const [index, wait] of waits.entries()) {
    await using rig = Rig.begin(({ registry, rendezvous }) => {
      if (index === 0) registry.always("register", { hang: true });
      if (index === 1) rendezvous.refuse("executor", "hang");
    });
    await wait(rig);
    rig.stop();
    await rig.ended;
  }
});

relayTest("additional members in answers are nobody's business", async () => {
  await using rig = Rig.begin(({ registry }) => {
    registry.always("register", { but: { later: { more: [1] } } });
    registry.always("connect", { but: { later: { more: [1] } } });
    registry.always("validate", { but: { later: "x" } });
  });
  await rig.executor();
  await (await rig.connect())[Symbol.asyncDispose]();
});

relayTest(
  "an upgrade that is refused keeps the URL, unless the status says that the registration is not wanted",
  async () => {
    const clock = new ManualClock();
    const header = { "x-codex-rendezvous-rejection-reason": "pod_draining" };
    await using rig = Rig.begin(({ rendezvous }) => {
      rendezvous.refuse("executor", { status: 503, headers: header }, "drop", { status: 200 }, { status: 404 });
    }, { clock });
    const { registry, rendezvous } = rig.world;
    await eventually("it has connected", () => {
      clock.advance(5_000);
      assert.equal(rendezvous.peers.length, 1);
    });
    const targets = rendezvous.upgrades.map(({ target }) => target.split("?")[0]);
    assert.deepEqual(targets, [
      ...Array.from({ length: 4 }, () => "/executor/registration-1"),
      "/executor/registration-2",
    ]);
    assert.equal(registry.requestsOf("register").length, 2);
    const ids = rendezvous.upgrades.map(({ headers }) => headers["x-request-id"]);
    assert.equal(new Set(ids).size, 5);
    for (const id of ids) assert.match(id!, /^req_[0-9a-f]{32}$/);
    assert.match(rig.log.join(""), /pod_draining/);
  },
);

relayTest("a harness asks again where the registry may only be busy, and nowhere else", async () => {
  await using rig = await Rig.start();
  const { registry } = rig.world;
  registry.next("connect", { status: 429 }, { status: 500 }, { status: 503 });
  await (await rig.connect())[Symbol.asyncDispose]();
  assert.equal(registry.requestsOf("connect").length, 4);
  const bad: readonly Answer[] = [
    ...[401, 403, 404, 409].map((status) => ({ status })),
    { body: "no JSON" },
    { but: { executor_public_key: { suite: "another" } } },
    { but: { harness_key_authorization: "" } },
    { but: { environment_id: "another" } },
    { but: { security_profile: "none" } },
  ];
  for (const [index, answer] of bad.entries()) {
    registry.next("connect", answer);
    await assert.rejects(rig.connect(), { name: "ClientError" });
    assert.equal(registry.requestsOf("connect").length, 5 + index, JSON.stringify(answer));
  }
  assert.equal(rig.world.rendezvous.open("harness").length, 0);
});
