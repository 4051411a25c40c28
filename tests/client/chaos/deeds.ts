/** What a client does while its network misbehaves; each deed knows every byte that it may see. */
import assert from "node:assert/strict";
import { ClientError } from "../../../lib/client/client_error.ts";
import type { Environment } from "../../../lib/client/environment.ts";
import { FileError } from "../../../lib/client/file_error.ts";
import type { ExecProcess, StartOptions } from "../../../lib/client/process.ts";
import { pause } from "../../program/eventually.ts";
import type { Random } from "../../program/random.ts";
import type { Watchdog } from "./watchdog.ts";

export interface Scene {
  readonly environment: Environment;
  readonly random: Random;
  readonly watchdog: Watchdog;
  /** A directory of the run's own. */
  readonly directory: string;
  /** Gives as many patterned bytes as its path says. */
  readonly httpUrl: string;
  /** Whether the server can end a program's input. */
  readonly hasExtensions: boolean;
}

/** `whole`: everything came. Else the clear failure, where one is allowed: what was asked is never repeated by itself. */
export type Outcome = "whole" | ClientError | FileError;

export type Deed = (scene: Scene, name: string) => Promise<Outcome>;

/** A program that speaks fast on both streams. */
const shout: Deed = async (scene, name) => {
  const [out, err, code] = [1 + scene.random.below(40_000), 1 + scene.random.below(10_000), scene.random.below(256)];
  const argv = ["sh", "-c", `seq ${out}; seq ${err} >&2; exit ${code}`];
  return await withProcess(scene, name, { argv }, async (process) => {
    await Promise.all([
      scene.watchdog.watch(`${name} stdout`, wants(process.stdout, lines(out))),
      scene.watchdog.watch(`${name} stderr`, wants(process.stderr, lines(err))),
    ]);
    assert.equal((await scene.watchdog.watch(`${name} exited`, process.exited)).code, code);
    await scene.watchdog.watch(`${name} closed`, process.closed);
  });
};

/** A program that speaks slowly, so that outages come between its words; its events are iterated. */
const murmur: Deed = async (scene, name) => {
  const words = 5 + scene.random.below(60);
  const argv = ["sh", "-c", `n=0; while [ $n -lt ${words} ]; do n=$((n + 1)); echo $n; sleep 0.01; done`];
  const tty = scene.random.below(2) === 0;
  return await withProcess(scene, name, { argv, tty }, async (process) => {
    const types: string[] = [];
    const heard: Uint8Array[] = [];
    let seq = 0;
    const iterate = async () => {
      for await (const event of process) {
        assert.equal(event.seq, ++seq, `${name}: the events are numbered without gaps`);
        if (event.type === "output") heard.push(event.bytes);
        else types.push(event.type);
      }
    };
    await scene.watchdog.watch(`${name} events`, iterate());
    assert.deepEqual(types, ["exited", "closed"]);
    const expected = lines(words).replaceAll("\n", tty ? "\r\n" : "\n");
    assert.equal(new TextDecoder().decode(joined(heard)), expected);
  });
};

/** More than a server retains, read slowly at times: an outage may leave a gap, which is a clear failure. */
const flood: Deed = async (scene, name) => {
  const { random, watchdog } = scene;
  const count = 150_000 + random.below(450_000);
  const slowly = random.below(2) === 0;
  try {
    return await withProcess(scene, name, { argv: ["seq", String(count)] }, async (process) => {
      const output = new Prefix(process.stdout, new TextEncoder().encode(lines(count)));
      if (slowly) await watchdog.watch(`${name} beginning`, output.upTo(1).then(() => pause(random.below(300))));
      await watchdog.watch(`${name} stdout`, output.end());
      await watchdog.watch(`${name} closed`, process.closed);
    });
  } catch (error) {
    if (error instanceof ClientError && /events are no longer retained/.test(error.message)) return error;
    throw error;
  }
};

/** Random bytes to stdin come back, on pipes or a raw terminal. */
const mirror: Deed = async (scene, name) => {
  const { random, watchdog } = scene;
  const tty = random.below(3) === 0;
  const argv = ["sh", "-c", tty ? "stty raw -echo; echo; exec cat" : "echo; exec cat"];
  return await withProcess(scene, name, { argv, tty, stdin: true }, async (process) => {
    const pieces = Array.from({ length: 1 + random.below(12) }, () => noise(random, 1 + random.below(30_000)));
    if (tty) pieces.forEach(withoutEscapes);
    const expected = joined([new Uint8Array([10]), ...pieces]);
    const output = new Prefix(process.stdout, expected);
    await watchdog.watch(`${name} ready`, output.upTo(1)); // a terminal is raw from here on
    const write = (piece: Uint8Array, index: number) => watchdog.watch(`${name} write ${index}`, process.write(piece));
    if (random.below(2) === 0) {
      // None waits for another, and they are in the order of the calls all the same.
      await Promise.all(pieces.map(write));
    } else {
      for (const [index, piece] of pieces.entries()) {
        await write(piece, index);
        await pause(random.below(30));
      }
    }
    await watchdog.watch(`${name} echo`, output.upTo(expected.length));
    if (!tty && scene.hasExtensions) {
      await untilAnswered(() => watchdog.watch(`${name} closeStdin`, process.closeStdin()));
      assert.equal((await watchdog.watch(`${name} exited`, process.exited)).code, 0);
    } else {
      await untilAnswered(() => watchdog.watch(`${name} terminate`, process.terminate()));
    }
    await watchdog.watch(`${name} rest`, output.end());
    await watchdog.watch(`${name} closed`, process.closed);
  });
};

/** A file is written whole and read in blocks. */
const file: Deed = async ({ environment: { files }, random, watchdog, directory }, name) => {
  const path = `${directory}/${name.replaceAll(" ", "-")}`;
  const content = noise(random, random.below(400_000));
  const write = () => files.writeFile(path, random.below(2) === 0 ? content : streamOf(content));
  const readBack = async () => {
    if (random.below(2) === 0) assert.deepEqual(await files.readFile(path), content);
    else await wants(await files.open(path), content);
  };
  return await orFailure(async () => {
    await watchdog.watch(`${name} write`, write());
    assert.deepEqual(await Deno.readFile(path), content, `${name}: it was said to be written`);
    await watchdog.watch(`${name} read`, readBack());
  });
};

/** The body of an HTTP response comes whole or fails. */
const download: Deed = async ({ environment, random, watchdog, httpUrl }, name) => {
  const length = random.below(600_000);
  return await orFailure(async () => {
    const response = await watchdog.watch(`${name} head`, environment.fetch(`${httpUrl}/${length}`));
    assert.equal(response.status, 200);
    await watchdog.watch(`${name} body`, wants(response.body!, patterned(length)));
  });
};

export const DEEDS: readonly [Deed, ...Deed[]] = [shout, murmur, flood, mirror, mirror, file, download];

/**
 * The start itself may fail, for it is never repeated. What has been started must come whole, as outages are shorter than
 * the deadlines, unless it says more than the server retains.
 */
async function withProcess(
  scene: Scene,
  name: string,
  options: StartOptions,
  use: (process: ExecProcess) => Promise<void>,
): Promise<Outcome> {
  let process: ExecProcess;
  try {
    process = await scene.watchdog.watch(`${name} start`, scene.environment.start(options));
  } catch (error) {
    return clear(error);
  }
  try {
    await use(process);
  } finally {
    await scene.watchdog.watch(`${name} disposal`, process[Symbol.asyncDispose]());
  }
  return "whole";
}

async function orFailure(act: () => Promise<void>): Promise<Outcome> {
  try {
    await act();
    return "whole";
  } catch (error) {
    return clear(error);
  }
}

/** @throws What was thrown, if it is no clear failure. */
function clear(error: unknown): ClientError | FileError {
  if (error instanceof ClientError && error.kind !== "json" && error.kind !== "protocol") return error;
  if (error instanceof FileError && error.kind !== "InvalidInput") return error;
  throw error;
}

/** Calls that may be repeated by hand, and are not by the client. */
async function untilAnswered(call: () => Promise<unknown>): Promise<void> {
  for (;;) {
    try {
      await call();
      return;
    } catch (error) {
      if (!(error instanceof ClientError && (error.kind === "closed" || error.kind === "disconnected"))) throw error;
    }
  }
}

/** A stream that must say what is expected, byte for byte, as far as it has been read. */
class Prefix {
  readonly #reader: ReadableStreamDefaultReader<Uint8Array>;
  readonly #expected: Uint8Array;
  #length = 0;

  constructor(stream: ReadableStream<Uint8Array>, expected: Uint8Array) {
    this.#reader = stream.getReader();
    this.#expected = expected;
  }

  async upTo(length: number): Promise<void> {
    while (this.#length < length) {
      assert.ok(await this.#next(), `it ended after ${this.#length} of ${length} bytes`);
    }
  }

  async end(): Promise<void> {
    while (await this.#next());
    assert.equal(this.#length, this.#expected.length, "it ended early");
  }

  async #next(): Promise<boolean> {
    const { value, done } = await this.#reader.read();
    if (done) return false;
    const expected = this.#expected.subarray(this.#length, this.#length + value.length);
    if (!isEqual(value, expected)) {
      throw new Error(`other bytes than expected between ${this.#length} and ${this.#length + value.length}`);
    }
    this.#length += value.length;
    return true;
  }
}

async function wants(stream: ReadableStream<Uint8Array>, expected: Uint8Array | string): Promise<void> {
  await new Prefix(stream, typeof expected === "string" ? new TextEncoder().encode(expected) : expected).end();
}

function isEqual(a: Uint8Array, b: Uint8Array): boolean {
  return a.length === b.length && a.every((byte, index) => byte === b[index]);
}

/** What `seq count` says. */
function lines(count: number): string {
  return Array.from({ length: count }, (_, index) => `${index + 1}\n`).join("");
}

function noise(random: Random, length: number): Uint8Array<ArrayBuffer> {
  return new Uint8Array(length).map(() => random.below(256));
}

/** The reference keeps back what may become an escape sequence, and answers some of them in the terminal's place. */
function withoutEscapes(bytes: Uint8Array): void {
  bytes.forEach((byte, index) => bytes[index] = byte === 0x1b ? 0x1c : byte);
}

/** Bytes that repeat so late that a piece in the wrong place does not fit. */
export function patterned(length: number): Uint8Array<ArrayBuffer> {
  return new Uint8Array(length).map((_, index) => (Math.imul(index + 1, 0x9e3779b1) >>> 24) ^ (index >>> 16));
}

function streamOf(bytes: Uint8Array): ReadableStream<Uint8Array> {
  return new ReadableStream({
    start(controller) {
      for (let at = 0; at < bytes.length; at += 100_000) controller.enqueue(bytes.subarray(at, at + 100_000));
      controller.close();
    },
  });
}

function joined(pieces: readonly Uint8Array[]): Uint8Array<ArrayBuffer> {
  const whole = new Uint8Array(pieces.reduce((sum, { length }) => sum + length, 0));
  let at = 0;
  for (const piece of pieces) {
    whole.set(piece, at);
    at += piece.length;
  }
  return whole;
}
