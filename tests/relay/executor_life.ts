import assert from "node:assert/strict";
import { runExecutor } from "../../lib/relay/executor/executor.ts";
import { encodeHandshake } from "../../lib/relay/stream/frame.ts";
import type { PublicKeys } from "../../lib/relay/noise/keys.ts";
import { Initiator } from "../../lib/relay/noise/noise.ts";
import type { DialOptions } from "../../lib/relay/socket/relay_socket.ts";
import { StaticKeys } from "../../lib/relay/noise/static_keys.ts";
import type { RelayStream } from "../../lib/relay/stream/stream.ts";
import type { Verdict } from "../../lib/relay/executor/stream_host.ts";
import { ManualClock } from "../support/manual_clock.ts";
import { primitives } from "./executor_rig.ts";
import { FakeSocket } from "./support_socket.ts";

const never = new Promise<never>(() => {});

/** An executor with a registry and a rendezvous that do what the test says, one answer after the other. */
export class ExecutorLife implements AsyncDisposable {
  readonly clock = new ManualClock();
  /** What happened, in order; times are those of the clock. */
  readonly happened: string[] = [];
  readonly requestIds: string[] = [];
  readonly registeredKeys: PublicKeys[] = [];
  readonly sockets: FakeSocket[] = [];
  readonly keys: StaticKeys;
  /** What the registry says of every harness; nothing unless set. */
  verdict: Verdict | undefined;
  /** Called by the signal, before the executor hears of it. */
  beforeStop = () => {};
  /** Called with each thing that happens, in the moment in which it does. */
  watch = (_what: string) => {};
  /** Called with each stream that opens. */
  open: (stream: RelayStream) => void = () => {};
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
    this.#stop.signal.addEventListener("abort", () => this.beforeStop());
    this.done = runExecutor({
      registry: {
        environmentId: "env-1",
        register: (keys, signal) => this.#register(keys, signal),
        validate: (registrationId, request, signal) => {
          this.#tell(`validate for ${registrationId} ${request.streamId}`);
          return this.verdict === undefined ? abortable(never, signal) : Promise.resolve(this.verdict);
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
      open: (stream) => this.open(stream),
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
    this.watch(what);
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

export async function life(
  registrations: (Error | number | "never")[],
  dials: (Error | "socket" | "never")[],
  random?: () => number,
): Promise<ExecutorLife> {
  return new ExecutorLife(await StaticKeys.generate(primitives), registrations, dials, random);
}

/** A first message on the stream `s`. */
export async function greeting(executor: ExecutorLife, registrationId: string): Promise<Uint8Array<ArrayBuffer>> {
  using own = await StaticKeys.generate(primitives);
  using initiator = await Initiator.begin({
    primitives,
    own,
    executor: executor.keys.public,
    context: { environmentId: "env-1", registrationId, streamId: "s" },
    authorization: "a",
  });
  return encodeHandshake("s", initiator.message1);
}
