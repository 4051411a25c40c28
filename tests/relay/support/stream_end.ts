import assert from "node:assert/strict";
import type { ConnectionEnd } from "../../../lib/rpc/connection.ts";
import { AssemblyBudget } from "../../../lib/relay/stream/assembly_budget.ts";
import { decodeFrame } from "../../../lib/relay/stream/frame.ts";
import { FrameQueue } from "../../../lib/relay/stream/frame_queue.ts";
import { loadPrimitives } from "../../../lib/relay/noise/load_primitives.ts";
import { nonceOf } from "../../../lib/relay/noise/nonce.ts";
import type { AesKey, Primitives } from "../../../lib/relay/noise/primitives.ts";
import { RelayStream, type RelayStreamOptions } from "../../../lib/relay/stream/stream.ts";
import { SecretTransportKeys } from "../../../lib/relay/noise/transport_keys.ts";
import { MemorySocket } from "./memory_socket.ts";

export type Role = "harness" | "executor";

/** The keys that a handshake has ended with, one for each direction. */
export interface DirectionKeys {
  readonly toExecutor: Uint8Array;
  readonly toHarness: Uint8Array;
}

export const KEYS: DirectionKeys = { toExecutor: new Uint8Array(32).fill(1), toHarness: new Uint8Array(32).fill(2) };

const loaded = await loadPrimitives();
/** What another thread is doing for a stream, which may have ended. */
const underWay = new Set<Promise<unknown>>();
const primitives: Primitives = { ...loaded, aes256Gcm: { key: (raw) => watched(loaded.aes256Gcm.key(raw)) } };

/** Keys of ciphers that have not been wiped. */
let keys = 0;

/**
 * A test that is over only when nothing is done in the background any more. All its streams have to have ended, with their
 * keys wiped.
 */
export function streamTest(name: string, test: () => void | Promise<void>): void {
  Deno.test(name, async () => {
    keys = 0;
    try {
      await test();
    } finally {
      await Promise.allSettled(underWay);
    }
    assert.equal(keys, 0, "keys have not been wiped");
  });
}

function watched(key: AesKey): AesKey {
  const { background } = key;
  let wiped = false;
  keys++;
  const watch = <T>(work: Promise<T>) => {
    underWay.add(work);
    work.finally(() => underWay.delete(work)).catch(() => {});
    return work;
  };
  return {
    seal: (...input) => key.seal(...input),
    open: (...input) => key.open(...input),
    ...(background === undefined ? {} : {
      background: {
        seal: (...input) => watch(background.seal(...input)),
        open: (...input) => watch(background.open(...input)),
      },
    }),
    [Symbol.dispose]() {
      if (!wiped) keys--;
      wiped = true;
      key[Symbol.dispose]();
    },
  };
}

/** One end of a stream over a socket in memory, and what became of it. */
export class StreamEnd {
  readonly socket: MemorySocket;
  readonly budget: AssemblyBudget;
  readonly stream: RelayStream;
  /** What has been delivered. */
  readonly messages: Uint8Array<ArrayBuffer>[] = [];
  /** What the receiver was told, each time; once is right. */
  readonly ends: ConnectionEnd[] = [];
  /** What the owner of the stream was told, each time. */
  readonly left: { readonly end: ConnectionEnd; readonly own: boolean }[] = [];
  /** Resolves when the receiver has been told. */
  readonly ended: Promise<ConnectionEnd>;
  readonly #ended = Promise.withResolvers<ConnectionEnd>();

  constructor(
    role: Role,
    options: Partial<RelayStreamOptions> & { socket?: MemorySocket; secrets?: DirectionKeys } = {},
  ) {
    const { socket = new MemorySocket(), secrets = KEYS, ...rest } = options;
    const { toExecutor, toHarness } = secrets;
    const [send, receive] = role === "harness" ? [toExecutor, toHarness] : [toHarness, toExecutor];
    this.ended = this.#ended.promise;
    this.socket = socket;
    this.budget = rest.budget ?? new AssemblyBudget();
    this.stream = new RelayStream({
      streamId: "stream",
      label: "the other end",
      keys: new SecretTransportKeys(new Uint8Array(send), new Uint8Array(receive)),
      primitives,
      queue: new FrameQueue(socket),
      role,
      ended: (end, own) => void this.left.push({ end, own }),
      ...rest,
      budget: this.budget,
    });
  }

  /** Takes every message at once. */
  start(): this {
    this.stream.start({
      message: (message) => void this.messages.push(message as Uint8Array<ArrayBuffer>),
      ended: (end) => {
        this.ends.push(end);
        this.#ended.resolve(end);
      },
    });
    return this;
  }

  /** The kinds of the frames that were sent. */
  get sentKinds(): (string | undefined)[] {
    return this.socket.sent.map((frame) => decodeFrame(frame)?.kind);
  }

  get texts(): string[] {
    return this.messages.map((message) => new TextDecoder().decode(message));
  }
}

/** A record as the other end would have sealed it, of any size. */
export function sealedRecord(key: Uint8Array, seq: number, plaintext: Uint8Array): Uint8Array<ArrayBuffer> {
  using aes = primitives.aes256Gcm.key(key);
  return aes.seal(nonceOf(seq), plaintext);
}
