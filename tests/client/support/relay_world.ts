import assert from "node:assert/strict";
import { setImmediate } from "node:timers";
import type { Carrier, OpenedConnection, OpenOptions } from "../../../lib/client/carrier.ts";
import { type ClientOptions, ExecClient } from "../../../lib/client/client.ts";
import type { ConnectionState } from "../../../lib/client/client_state.ts";
import { relayCarrier } from "../../../lib/client/relay_carrier.ts";
import type { RelayCarrierOptions } from "../../../lib/client/relay_options.ts";
import { AssemblyBudget } from "../../../lib/relay/stream/assembly_budget.ts";
import { encodeHandshake } from "../../../lib/relay/stream/frame.ts";
import { FrameQueue } from "../../../lib/relay/stream/frame_queue.ts";
import { loadPrimitives } from "../../../lib/relay/noise/load_primitives.ts";
import { Responder } from "../../../lib/relay/noise/noise.ts";
import { decodePublicKeys, encodePublicKeys } from "../../../lib/relay/noise/public_key_json.ts";
import type { DialError, DialOptions, RelaySocket } from "../../../lib/relay/socket/relay_socket.ts";
import { StaticKeys } from "../../../lib/relay/noise/static_keys.ts";
import { RelayStream } from "../../../lib/relay/stream/stream.ts";
import { FakeSocket } from "../../relay/support_socket.ts";
import { ManualClock } from "../../support/manual_clock.ts";
import { FarEnd } from "../../support/scripted_server.ts";

const primitives = await loadPrimitives();
/** Two executors, of which the first is there unless a test says otherwise. */
export const EXECUTORS = [await StaticKeys.generate(primitives), await StaticKeys.generate(primitives)] as const;

export interface Asked {
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  // deno-lint-ignore no-explicit-any -- looked at member by member
  readonly json: any;
  /** By the clock. */
  readonly at: number;
}

/** What a request gets instead of the right answer. */
export type RegistryAct = Response | Error | "hang";

/** A registry, a rendezvous and executors, all in memory and played by the test, in the time of a manual clock. */
export class RelayWorld {
  readonly clock = new ManualClock();
  readonly asked: Asked[] = [];
  readonly dialled: { readonly url: string; readonly headers: DialOptions["headers"]; readonly timeoutMs: number }[] =
    [];
  readonly sockets: FakeSocket[] = [];
  /** What becomes of the next requests. */
  readonly registryActs: RegistryAct[] = [];
  /** What becomes of the next upgrades. */
  readonly dialActs: DialError[] = [];
  executor: StaticKeys = EXECUTORS[0];
  registrationId = "registration-1";
  url = "wss://rendezvous.test/harness?capability=secret";
  #authorizations = 0;

  /** What the registry says now, but for these members. */
  bundle(but: Readonly<Record<string, unknown>> = {}): Record<string, unknown> {
    return {
      environment_id: "environment",
      url: this.url,
      security_profile: "noise_hybrid_ik_v1",
      executor_registration_id: this.registrationId,
      executor_public_key: encodePublicKeys(this.executor.public),
      harness_key_authorization: `authorization-${++this.#authorizations}`,
      ...but,
    };
  }

  carrier(options: Partial<RelayCarrierOptions> = {}): Carrier {
    return relayCarrier({ ...this.options, ...options });
  }

  get options(): RelayCarrierOptions {
    return {
      ...{ registry: "https://registry.test/base/", environmentId: " environment ", token: "token-1" },
      fetch: ((url: string, init: RequestInit) => this.#fetch(url, init)) as typeof fetch,
      dial: (url, options) => this.#dial(url, options),
    };
  }

  async #fetch(url: string, { headers, body, signal }: RequestInit): Promise<Response> {
    const json = JSON.parse(new TextDecoder().decode(body as Uint8Array));
    this.asked.push({ url, headers: headers as Record<string, string>, json, at: this.clock.now() });
    const act = this.registryActs.shift();
    if (act instanceof Error) throw act;
    if (act === "hang") return await new Promise((_, reject) => signal!.onabort = () => reject(signal!.reason));
    return act ?? Response.json(this.bundle());
  }

  #dial(url: string, { headers, timeoutMs, signal }: DialOptions): Promise<RelaySocket> {
    signal.throwIfAborted();
    this.dialled.push({ url, headers, timeoutMs });
    const act = this.dialActs.shift();
    if (act !== undefined) return Promise.reject(act);
    const socket = new FakeSocket();
    this.sockets.push(socket);
    return Promise.resolve(socket);
  }

  /** Resolves when so many sockets have been opened. */
  async socket(count: number): Promise<FakeSocket> {
    await until(() => this.sockets.length >= count);
    return this.sockets[count - 1]!;
  }

  /** Resolves when so many requests have been made, counted from 1. */
  async request(count: number): Promise<Asked> {
    await until(() => this.asked.length >= count);
    return this.asked[count - 1]!;
  }

  /** Lets time pass, from timer to timer, until a promise is settled: what needs no timer comes first. */
  async passUntil(promise: Promise<unknown>): Promise<void> {
    let isSettled = false;
    promise.then(() => isSettled = true, () => isSettled = true);
    for (;;) {
      for (let turn = 0; turn < TURNS && !isSettled; turn++) await nextTurn();
      if (isSettled) return;
      const { nextAt } = this.clock;
      if (nextAt !== undefined) this.clock.advance(nextAt - this.clock.now());
    }
  }

  /**
   * Plays the executor's part of a handshake.
   *
   * @param count Which socket, counted from 1.
   */
  async answer(count: number, payload: Uint8Array = new Uint8Array()): Promise<AcceptedStream> {
    const socket = await this.socket(count);
    const [, greeting] = await socket.frames(2);
    assert(greeting?.kind === "handshake");
    const { streamId, payload: message1 } = greeting;
    const context = { environmentId: "environment", registrationId: this.registrationId, streamId };
    using responder = await Responder.read({ primitives, own: this.executor, context, message1 });
    const { message2, keys } = await responder.answer(payload);
    const asked = this.asked.at(-1)!.json.harness_public_key;
    assert.deepEqual(responder.harness, decodePublicKeys(asked), "the handshake is made with the key that was shown");
    const far = new Mirror(socket);
    const stream = new RelayStream({
      ...{ streamId, label: "a harness", keys, primitives, role: "executor", clock: this.clock },
      ...{ queue: new FrameQueue(far), budget: new AssemblyBudget() },
    });
    void far.feed(stream);
    socket.deliver(encodeHandshake(streamId, message2));
    return { streamId, authorization: new TextDecoder().decode(responder.payload), stream };
  }

  /** The server's end of a connection, once the handshake is done. */
  async accept(count: number): Promise<FarEnd> {
    return new FarEnd((await this.answer(count)).stream);
  }
}

export interface AcceptedStream {
  readonly streamId: string;
  readonly authorization: string;
  readonly stream: RelayStream;
}

/** The executor's side of a socket: what it sends is delivered to the harness. */
class Mirror implements RelaySocket {
  readonly bufferedBytes = 0;
  readonly gone: Promise<void>;
  readonly #socket: FakeSocket;

  constructor(socket: FakeSocket) {
    this.#socket = socket;
    this.gone = socket.gone;
  }

  /** Hands the harness's records to a stream, until the socket ends. */
  async feed(stream: RelayStream): Promise<void> {
    for (let count = 3;; count++) {
      const frames = await Promise.race([this.#socket.frames(count), this.gone]);
      const frame = frames?.at(-1);
      if (frame?.kind !== "data") return stream.peerReset();
      stream.receive(frame);
    }
  }

  start(): void {}

  send(frame: Uint8Array<ArrayBuffer>): void {
    this.#socket.deliver(frame);
  }

  drainedTo(): Promise<void> {
    return Promise.resolve();
  }

  close(): void {
    this.#socket.end("closed by the peer");
  }
}

/** Waits for what happens by itself: it needs turns of the event loop, and cryptography on other threads. */
async function until(done: () => boolean): Promise<void> {
  for (const began = performance.now(); !done();) {
    if (performance.now() - began > 10_000) throw new Error("it has not happened within 10 s");
    await nextTurn();
  }
}

/** More than what goes on in memory needs from one wait for a timer to the next. */
const TURNS = 50;

function nextTurn(): Promise<void> {
  return new Promise<void>((resolve) => setImmediate(resolve));
}

const never = new AbortController().signal;
/** What is told of {@linkcode RelayWorld.url}. */
export const SHOWN = "wss://rendezvous.test/harness";

export function open(world: RelayWorld, options: Partial<OpenOptions> = {}, carrier = world.carrier()) {
  const opening = carrier.open({ signal: never, clock: world.clock, ...options });
  opening.catch(() => {}); // whoever waits for it hears of it
  return opening;
}

/** Ends a connection and waits until nothing is left of it. */
export async function close({ connection, gone }: OpenedConnection): Promise<void> {
  connection.close();
  await gone;
}

export function refusal(status: number, code?: string): Response {
  return Response.json(code === undefined ? {} : { error: { code, message: "no" } }, { status });
}

/** Its body does not come. */
export function brokenAnswer(): Response {
  return new Response(new ReadableStream({ pull: (controller) => controller.error(new Error("cut")) }));
}

/** Lets time pass until the registry has been asked so often. @returns When that was. */
export async function askedAt(world: RelayWorld, count: number): Promise<number[]> {
  await world.passUntil(world.request(count));
  return world.asked.map(({ at }) => at);
}

/** A client over the relay, the server's end of its first connection, and when there is another. */
export async function connected(world: RelayWorld, options: ClientOptions = {}) {
  const again = Promise.withResolvers<void>();
  let isAgain = false;
  const onState = (state: ConnectionState) => {
    if (state === "disconnected") isAgain = true;
    else if (isAgain) again.resolve();
  };
  const connecting = ExecClient.connect(world.carrier(), { clock: world.clock, onState, ...options });
  const server = await world.accept(1);
  await server.shakeHands();
  return { client: await connecting, server, again: again.promise };
}

export function lose(world: RelayWorld, count: number): void {
  world.sockets[count - 1]!.end("pong_timeout");
}
