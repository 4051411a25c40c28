import assert from "node:assert/strict";
import { CredentialError } from "../../lib/relay/credential.ts";
import { runExecutor } from "../../lib/relay/executor.ts";
import { encodeHandshake } from "../../lib/relay/frame.ts";
import type { PublicKeys } from "../../lib/relay/keys.ts";
import { RegistryError } from "../../lib/relay/registry_error.ts";
import { DialError, type DialOptions } from "../../lib/relay/relay_socket.ts";
import { StaticKeys } from "../../lib/relay/static_keys.ts";
import type { Verdict } from "../../lib/relay/stream_host.ts";
import { ManualClock } from "../support/manual_clock.ts";
import { primitives } from "./executor_rig.ts";
import { FakeSocket } from "./support_socket.ts";

const never = new Promise<never>(() => {});

/** An executor with a registry and a rendezvous that do what the test says, one answer after the other. */
class ExecutorLife implements AsyncDisposable {
  readonly clock = new ManualClock();
  /** What happened, in order; times are those of the clock. */
  readonly happened: string[] = [];
  readonly requestIds: string[] = [];
  readonly registeredKeys: PublicKeys[] = [];
  readonly sockets: FakeSocket[] = [];
  readonly keys: StaticKeys;
  readonly done: Promise<void>;
  readonly #stop = new AbortController();
  #waiters: { readonly count: number; readonly resolve: () => void }[] = [];

  /**
   * @param registrations What registering leads to: an error, or the number of a registration. The last one stays.
   * @param dials What dialling leads to: an error, or a socket. The last one stays.
   */
  constructor(
    keys: StaticKeys,
    readonly registrations: (Error | number | "never")[],
    readonly dials: (Error | "socket" | "never")[],
    random = () => 0,
  ) {
    this.keys = keys;
    this.done = runExecutor({
      registry: {
        environmentId: "env-1",
        register: (keys, signal) => this.#register(keys, signal),
        validate: (registrationId, request, signal) => {
          this.#tell(`validate for ${registrationId} ${request.streamId}`);
          return abortable<Verdict>(never, signal);
        },
      },
      keys,
      dial: (url, options) => this.#dial(url, options),
      primitives,
      clock: this.clock,
      random,
      events: {
        registration: ({ outcome, durationMs }) => this.#tell(`registration ${outcome} ${durationMs}`),
        registered: ({ environmentId }) => this.#tell(`registered ${environmentId}`),
        rendezvousConnect: ({ outcome, durationMs }) => this.#tell(`connect ${outcome} ${durationMs}`),
        connected: () => this.#tell("connected"),
        lost: ({ reason, lastedMs }) => this.#tell(`lost: ${reason} after ${lastedMs}`),
        retrying: ({ what, afterMs, reason, status, rejection }) =>
          this.#tell(`retrying ${what} in ${afterMs}: ${reason} ${status ?? "-"} ${rejection ?? "-"}`),
      },
      signal: this.#stop.signal,
      open: () => {},
    });
    this.done.catch(() => {});
  }

  async #register(keys: PublicKeys, signal: AbortSignal) {
    this.registeredKeys.push(keys);
    this.#tell("register");
    const next = this.registrations.length > 1 ? this.registrations.shift()! : this.registrations[0]!;
    if (next === "never") return await abortable(never, signal);
    await Promise.resolve();
    if (typeof next !== "number") throw next;
    return { registrationId: `registration-${next}`, url: `wss://rendezvous.test/${next}` };
  }

  async #dial(url: string, { headers, signal, timeoutMs }: DialOptions) {
    this.requestIds.push(headers!["x-request-id"]!);
    assert.deepEqual(Object.keys(headers!), ["x-request-id"]);
    assert.equal(timeoutMs, 10_000);
    this.#tell(`dial ${url} at ${this.clock.now()}`);
    const next = this.dials.length > 1 ? this.dials.shift()! : this.dials[0]!;
    if (next === "never") return await abortable(never, signal);
    await Promise.resolve();
    if (next !== "socket") throw next;
    const socket = new FakeSocket();
    this.sockets.push(socket);
    return socket;
  }

  #tell(what: string): void {
    this.happened.push(what);
    const count = this.happened.length;
    const ready = this.#waiters.filter((waiter) => waiter.count <= count);
    this.#waiters = this.#waiters.filter((waiter) => !ready.includes(waiter));
    for (const { resolve } of ready) resolve();
  }

  /** What happens next, as much as is expected. */
  async next(expected: readonly string[]): Promise<void> {
    const count = expected.length;
    if (this.happened.length < count) await new Promise<void>((resolve) => this.#waiters.push({ count, resolve }));
    assert.deepEqual(this.happened.splice(0, count), expected);
    // What follows without waiting has time to do so.
    await new Promise((resolve) => setTimeout(resolve));
  }

  stop(): void {
    this.#stop.abort(new Error("stopped by the test"));
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.stop();
    await this.done.catch(() => {});
    assert.equal(this.clock.pendingTimers, 0, "timers are left");
    for (const socket of this.sockets) await socket.gone;
  }
}

function abortable<T>(promise: Promise<T>, signal: AbortSignal): Promise<T> {
  return new Promise((resolve, reject) => {
    signal.addEventListener("abort", () => reject(signal.reason), { once: true });
    promise.then(resolve, reject);
  });
}

async function life(
  registrations: (Error | number | "never")[],
  dials: (Error | "socket" | "never")[],
  random?: () => number,
): Promise<ExecutorLife> {
  return new ExecutorLife(await StaticKeys.generate(primitives), registrations, dials, random);
}

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
  const { Initiator } = await import("../../lib/relay/noise.ts");
  await using executor = await life([1, 2], [new DialError("upgrade refused", 403), "socket"]);
  await executor.next([
    ...[...REGISTERED, "dial wss://rendezvous.test/1 at 0", "connect error 0"],
    "retrying rendezvous in 500: upgrade refused 403 -",
    ...REGISTERED,
  ]);
  executor.clock.advance(500);
  await executor.next(["dial wss://rendezvous.test/2 at 500", ...CONNECTED]);
  using own = await StaticKeys.generate(primitives);
  using initiator = await Initiator.begin({
    primitives,
    own,
    executor: executor.keys.public,
    context: { environmentId: "env-1", registrationId: "registration-2", streamId: "s" },
    authorization: "a",
  });
  executor.sockets[0]!.deliver(encodeHandshake("s", initiator.message1));
  await executor.next(["validate for registration-2 s"]);
});
