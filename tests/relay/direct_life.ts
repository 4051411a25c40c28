import assert from "node:assert/strict";
import type { RequestSigner, SignedRequest } from "../../lib/relay/credential.ts";
import { runDirect } from "../../lib/relay/direct/direct.ts";
import type { PlainDialOptions, PlainSocket } from "../../lib/relay/socket/plain_socket.ts";
import { memoryPair } from "../../lib/rpc/memory.ts";
import type { ConnectionEnd } from "../../lib/rpc/connection.ts";
import { ManualClock } from "../support/manual_clock.ts";

/** A socket of the direct transport that is the test's. */
class FakeSocket {
  readonly gone = Promise.withResolvers<void>();
  readonly ended = Promise.withResolvers<ConnectionEnd>();

  end(reason: string): void {
    this.ended.resolve({ reason });
    this.gone.resolve();
  }

  /** Nothing is carried here but its end. */
  asPlain(): PlainSocket {
    const [near] = memoryPair();
    return Object.assign(near, { gone: this.gone.promise, sendBytes() {}, drop: () => this.end("closed by us") });
  }
}

type Outcome<T extends string> = T | Error;

/** An executor of the direct transport whose registry and other end do what the test says, the last answer for ever. */
export class DirectLife implements AsyncDisposable {
  readonly clock = new ManualClock();
  /** What happened, in order; times are those of the clock. */
  readonly happened: string[] = [];
  readonly signed: SignedRequest[] = [];
  readonly sockets: FakeSocket[] = [];
  readonly stop = new AbortController();
  readonly done: Promise<void>;
  /** What the next signature fails with. */
  signature: Error | undefined;
  #waiters: { readonly count: number; readonly resolve: () => void }[] = [];

  /**
   * @param registrations A URL, or why there is none.
   * @param dials `socket`, or why there is none; `never`: no answer.
   */
  constructor(
    readonly registrations: Outcome<string>[],
    readonly dials: Outcome<"socket" | "never">[],
    random = () => 0,
  ) {
    const signer: RequestSigner = { sign: (request) => this.#sign(request) };
    this.done = runDirect({
      registry: { environmentId: "env-1", register: () => this.#register() },
      signer,
      clock: this.clock,
      random,
      events: {
        registration: ({ outcome }) => this.#tell(`registration ${outcome}`),
        registered: ({ environmentId }) => this.#tell(`registered ${environmentId}`),
        rendezvousConnect: ({ outcome }) => this.#tell(`connect ${outcome}`),
        connected: () => this.#tell("connected"),
        lost: ({ reason, lastedMs }) => this.#tell(`lost: ${reason} after ${lastedMs}`),
        retrying: ({ what, afterMs, reason, status }) =>
          this.#tell(`retrying ${what} in ${afterMs}: ${reason} ${status ?? "-"}`),
      },
      signal: this.stop.signal,
      dial: (url, options) => this.#dial(url, options),
      serve: () => this.sockets.at(-1)!.ended.promise,
    });
    this.done.catch(() => {});
  }

  async #register() {
    this.#tell(`register at ${this.clock.now()}`);
    const next = this.registrations.length > 1 ? this.registrations.shift()! : this.registrations[0]!;
    await Promise.resolve();
    if (typeof next !== "string") throw next;
    return { registrationId: "registration-1", url: next };
  }

  #sign(request: SignedRequest): Promise<Record<string, string>> {
    this.signed.push(request);
    if (this.signature === undefined) return Promise.resolve({ authorization: "signed" });
    const failure = this.signature;
    this.signature = undefined;
    return Promise.reject(failure);
  }

  async #dial(url: string, { headers, signal, timeoutMs, label, keepalive }: PlainDialOptions): Promise<PlainSocket> {
    assert.deepEqual([headers, timeoutMs, keepalive], [{ authorization: "signed" }, 10_000, true]);
    assert.match(label, /^exec-server websocket wss?:\/\/[\w.:]+$/);
    this.#tell(`dial ${url} at ${this.clock.now()}`);
    const next = this.dials.length > 1 ? this.dials.shift()! : this.dials[0]!;
    await Promise.resolve();
    if (next === "never") {
      return await new Promise((_, reject) => signal.addEventListener("abort", () => reject(signal.reason)));
    }
    if (next !== "socket") throw next;
    const socket = new FakeSocket();
    this.sockets.push(socket);
    return socket.asPlain();
  }

  #tell(what: string): void {
    this.happened.push(what);
    const count = this.happened.length;
    const ready = this.#waiters.filter((waiter) => waiter.count <= count);
    this.#waiters = this.#waiters.filter((waiter) => !ready.includes(waiter));
    for (const { resolve } of ready) resolve();
  }

  /** What happens next, as much as is expected. */
  async next(...expected: readonly string[]): Promise<void> {
    const count = expected.length;
    if (this.happened.length < count) await new Promise<void>((resolve) => this.#waiters.push({ count, resolve }));
    assert.deepEqual(this.happened.splice(0, count), expected);
    // What follows without waiting has time to do so.
    await new Promise((resolve) => setTimeout(resolve));
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.stop.abort(new Error("stopped by the test"));
    await this.done.catch(() => {});
    assert.equal(this.clock.pendingTimers, 0);
  }
}
