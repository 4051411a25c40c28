import assert from "node:assert/strict";
import { CredentialError } from "../../../lib/relay/credential.ts";
import { runExecutor } from "../../../lib/relay/executor/executor.ts";
import { RegistryError } from "../../../lib/relay/registry/registry_error.ts";
import { DialError } from "../../../lib/relay/socket/relay_socket.ts";
import { StaticKeys } from "../../../lib/relay/noise/static_keys.ts";
import type { RelayStream } from "../../../lib/relay/stream/stream.ts";
import { ManualClock } from "../../support/manual_clock.ts";
import { greeting, life } from "../executor_life.ts";
import { primitives } from "../executor_rig.ts";

const REGISTERED = ["register", "registration success 0", "registered env-1"];
const CONNECTED = ["connect success 0", "connected"];

Deno.test("an executor registers, connects and is connected again after a loss, with the same URL", async () => {
  await using executor = await life([1], ["socket"]);
  await executor.next([...REGISTERED, "dial wss://rendezvous.test/1 at 0", ...CONNECTED]);
  executor.clock.advance(7_000);
  executor.sockets[0]!.end("pong_timeout");
  await executor.next(["lost: pong_timeout after 7000", "retrying rendezvous in 500: pong_timeout - -"]);
  executor.clock.advance(499);
  assert.deepEqual(executor.happened, []);
  executor.clock.advance(1);
  await executor.next(["dial wss://rendezvous.test/1 at 7500", ...CONNECTED]);
});

Deno.test("every attempt to connect has a request id of its own", async () => {
  await using executor = await life([1], [new DialError("connection failed"), "socket"]);
  await executor.next([...REGISTERED, "dial wss://rendezvous.test/1 at 0", "connect error 0"]);
  await executor.next(["retrying rendezvous in 500: connection failed - -"]);
  executor.clock.advance(500);
  await executor.next(["dial wss://rendezvous.test/1 at 500", ...CONNECTED]);
  const [first, second] = executor.requestIds;
  assert.match(first!, /^req_[0-9a-f]{32}$/);
  assert.match(second!, /^req_[0-9a-f]{32}$/);
  assert.notEqual(first, second);
});

Deno.test("the waiting times grow over failed attempts and lost connections alike", async () => {
  await using executor = await life([1], [new DialError("upgrade timeout"), "socket"], () => 1 - 2 ** -53);
  await executor.next([...REGISTERED, "dial wss://rendezvous.test/1 at 0", "connect error 0"]);
  await executor.next(["retrying rendezvous in 1000: upgrade timeout - -"]);
  let now = 0;
  for (const [index, ms] of [1000, 2000, 4000, 8000, 16_000, 30_000, 30_000].entries()) {
    executor.clock.advance(ms);
    now += ms;
    await executor.next([`dial wss://rendezvous.test/1 at ${now}`, ...CONNECTED]);
    executor.sockets[index]!.end("connection lost");
    const next = [2000, 4000, 8000, 16_000, 30_000, 30_000, 30_000][index];
    await executor.next(["lost: connection lost after 0", `retrying rendezvous in ${next}: connection lost - -`]);
  }
});

Deno.test("the waiting times begin anew after a connection that lasted two minutes, not after a shorter one", async () => {
  await using executor = await life([1], ["socket"]);
  await executor.next([...REGISTERED, "dial wss://rendezvous.test/1 at 0", ...CONNECTED]);
  let now = 0;
  for (const [index, [lasted, wait]] of [[0, 500], [119_999, 1000], [120_000, 500], [1, 1000]].entries()) {
    executor.clock.advance(lasted!);
    executor.sockets[index]!.end("closed by the peer");
    await executor.next([
      `lost: closed by the peer after ${lasted}`,
      `retrying rendezvous in ${wait}: closed by the peer - -`,
    ]);
    executor.clock.advance(wait!);
    now += lasted! + wait!;
    await executor.next([`dial wss://rendezvous.test/1 at ${now}`, ...CONNECTED]);
  }
});

for (const status of [400, 401, 403, 404, 409, 410, 429, 499]) {
  Deno.test(`an upgrade refused with ${status}: the executor registers at once, with the same keys, then waits`, async () => {
    await using executor = await life([1, 2], [new DialError("upgrade refused", status, "expired"), "socket"]);
    await executor.next([
      ...[...REGISTERED, "dial wss://rendezvous.test/1 at 0", "connect error 0"],
      `retrying rendezvous in 500: upgrade refused ${status} expired`,
      ...REGISTERED,
    ]);
    assert.equal(executor.registeredKeys[0], executor.keys.public);
    assert.equal(executor.registeredKeys[1], executor.keys.public);
    assert.deepEqual(executor.happened, []);
    executor.clock.advance(500);
    await executor.next(["dial wss://rendezvous.test/2 at 500", ...CONNECTED]);
  });
}

for (const status of [200, 302, 500, 503]) {
  Deno.test(`an upgrade refused with ${status}: the executor keeps its registration`, async () => {
    await using executor = await life([1], [new DialError("upgrade refused", status), "socket"]);
    await executor.next([...REGISTERED, "dial wss://rendezvous.test/1 at 0", "connect error 0"]);
    await executor.next([`retrying rendezvous in 500: upgrade refused ${status} -`]);
    executor.clock.advance(500);
    await executor.next(["dial wss://rendezvous.test/1 at 500", ...CONNECTED]);
  });
}

Deno.test("a registration that fails after a refused upgrade ends the executor", async () => {
  const gone = new RegistryError("request", " (404 Not Found): gone", { status: 404 });
  await using executor = await life([1, gone], [new DialError("upgrade refused", 403)]);
  await assert.rejects(executor.done, gone);
});

Deno.test("a registration is repeated while another one holds the place, while the registry has trouble of its own, and while there is no credential", async () => {
  const conflict = new RegistryError("request", "", { status: 503, retry: "registration_conflict" });
  const trouble = new RegistryError("request", "", { status: 502, retry: "authentication_service_unavailable" });
  const later = new CredentialError("not now", true);
  await using executor = await life([conflict, trouble, later, conflict, conflict, conflict, 1], ["socket"]);
  const failed = ["register", "registration error 0"];
  await executor.next([...failed, "retrying registration in 500: registration_conflict 503 -"]);
  executor.clock.advance(500);
  await executor.next([...failed, "retrying registration in 1000: authentication_service_unavailable 502 -"]);
  executor.clock.advance(1000);
  await executor.next([...failed, "retrying registration in 2000: credential unavailable - -"]);
  for (const [wait, next] of [[2000, 4000], [4000, 5000], [5000, 5000]]) {
    executor.clock.advance(wait!);
    await executor.next([...failed, `retrying registration in ${next}: registration_conflict 503 -`]);
  }
  executor.clock.advance(5000);
  await executor.next([...REGISTERED, "dial wss://rendezvous.test/1 at 17500", ...CONNECTED]);
});

for (
  const error of [
    new RegistryError("request", " (503 Service Unavailable): no", { status: 503 }),
    new RegistryError("authentication", "no", { status: 401 }),
    new RegistryError("request", ": route-aware request timed out", { retryable: true }),
    new CredentialError("there is none"),
    new TypeError("a fault of ours"),
  ]
) {
  Deno.test(`a registration that fails with "${error.message}" is not repeated`, async () => {
    await using executor = await life([error], ["socket"]);
    await assert.rejects(executor.done, error);
    assert.deepEqual(executor.happened, ["register", "registration error 0"]);
  });
}

Deno.test("an error of ours while dialling is not taken for the network's", async () => {
  const fault = new TypeError("a fault of ours");
  await using executor = await life([1], [fault]);
  await assert.rejects(executor.done, fault);
});

Deno.test("the signal ends an executor that registers", async () => {
  await using executor = await life(["never"], ["socket"]);
  await executor.next(["register"]);
  executor.stop();
  await executor.done;
});

Deno.test("the signal ends an executor that waits to register again", async () => {
  const conflict = new RegistryError("request", "", { status: 503, retry: "registration_conflict" });
  await using executor = await life([conflict], ["socket"]);
  await executor.next([
    ...["register", "registration error 0"],
    "retrying registration in 500: registration_conflict 503 -",
  ]);
  executor.stop();
  await executor.done;
});

Deno.test("the signal ends an executor that dials", async () => {
  await using executor = await life([1], ["never"]);
  await executor.next([...REGISTERED, "dial wss://rendezvous.test/1 at 0"]);
  executor.stop();
  await executor.done;
});

Deno.test("the signal ends an executor that waits to dial again", async () => {
  await using executor = await life([1], [new DialError("connection failed")]);
  await executor.next([...REGISTERED, "dial wss://rendezvous.test/1 at 0", "connect error 0"]);
  await executor.next(["retrying rendezvous in 500: connection failed - -"]);
  executor.stop();
  await executor.done;
});

Deno.test("the signal drops the connection, and it is not said to be lost", async () => {
  await using executor = await life([1], ["socket"]);
  await executor.next([...REGISTERED, "dial wss://rendezvous.test/1 at 0", ...CONNECTED]);
  executor.stop();
  await executor.done;
  assert.equal(executor.sockets[0]!.closed, "at once");
  assert.deepEqual(executor.happened, []);
});

Deno.test("the signal in the moment of the connection drops it", async () => {
  await using executor = await life([1], ["socket"]);
  executor.watch = (what) => what === "connected" && executor.stop();
  await executor.done;
  assert.equal(executor.sockets[0]!.closed, "at once");
});

Deno.test("an executor that was stopped before it began does nothing", async () => {
  const happened: string[] = [];
  await runExecutor({
    registry: {
      environmentId: "env-1",
      register: () => Promise.reject(happened.push("register")),
      validate: () => Promise.reject(happened.push("validate")),
    },
    keys: await StaticKeys.generate(primitives),
    dial: () => Promise.reject(happened.push("dial")),
    primitives,
    clock: new ManualClock(),
    random: Math.random,
    events: {},
    signal: AbortSignal.abort(),
    open: () => {},
  });
  assert.deepEqual(happened, []);
});

Deno.test("the keys of an executor that has ended are of no use to anybody", async () => {
  const executor = await life([1], ["socket"]);
  await executor.next([...REGISTERED, "dial wss://rendezvous.test/1 at 0", ...CONNECTED]);
  assert.equal(executor.keys.x25519.agree((await StaticKeys.generate(primitives)).public.x25519).length, 32);
  await executor[Symbol.asyncDispose]();
  const other = (await StaticKeys.generate(primitives)).public.x25519;
  assert.throws(() => executor.keys.x25519.agree(other));
});

Deno.test("a harness is validated for the registration whose connection it came by", async () => {
  await using executor = await life([1, 2], [new DialError("upgrade refused", 403), "socket"]);
  await executor.next([
    ...[...REGISTERED, "dial wss://rendezvous.test/1 at 0", "connect error 0"],
    "retrying rendezvous in 500: upgrade refused 403 -",
    ...REGISTERED,
  ]);
  executor.clock.advance(500);
  await executor.next(["dial wss://rendezvous.test/2 at 500", ...CONNECTED]);
  executor.sockets[0]!.deliver(await greeting(executor, "registration-2"));
  await executor.next(["validate for registration-2 s"]);
});

Deno.test("streams that are closed because of the signal, before the executor hears of it, send no reset", async () => {
  await using executor = await life([1], ["socket"]);
  executor.verdict = "valid";
  const opened = Promise.withResolvers<RelayStream>();
  executor.open = opened.resolve;
  await executor.next([...REGISTERED, "dial wss://rendezvous.test/1 at 0", ...CONNECTED]);
  const socket = executor.sockets[0]!;
  socket.deliver(await greeting(executor, "registration-1"));
  const stream = await opened.promise;
  stream.start({ message() {}, ended() {} });
  // As the owner of the streams does, whose listener is older than the executor's.
  executor.beforeStop = () => stream.close();
  executor.stop();
  await executor.done;
  assert.deepEqual(socket.sent.map(({ kind }) => kind), ["handshake"]);
});
