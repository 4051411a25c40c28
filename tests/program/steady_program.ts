/** Programs whose output is known however long they run, and which outlive their client's connections. */
import type { WireClient } from "../support/wire_client.ts";
import { Assembly, type Expectation } from "./assembly.ts";
import { type ProgramSpec, startParams } from "./process_watch.ts";
import type { Random } from "./random.ts";

/**
 * The most that may be written and not yet received. Less than the 1 MiB that is retained, for whole chunks are
 * forgotten: the oldest may reach back 64 KiB further.
 */
const MAX_UNREAD_BYTES = 1024 * 1024 - 128 * 1024;
const MAX_WRITE_BYTES = 100_000;

interface Write {
  readonly writeId: string;
  readonly offset: number;
  readonly length: number;
}

/** A program that sends back what it is sent, after it has said `ready`. */
export class Mirror {
  readonly output: Assembly;
  #written = 0;
  #writes = 0;
  /** Sent, but the answer has not come: after a resume they are sent again under the same ids. */
  #unanswered: Write[] = [];

  constructor(readonly id: string, readonly spec: ProgramSpec) {
    this.output = new Assembly(mirrored);
  }

  static onPipes(id: string): Mirror {
    return new Mirror(id, { argv: ["sh", "-c", "echo ready; exec cat"], pipeStdin: true });
  }

  /** Raw, so that the terminal changes no byte. */
  static onTerminal(id: string): Mirror {
    return new Mirror(id, { argv: ["sh", "-c", "stty raw -echo; echo ready; exec cat"], tty: true });
  }

  get isReady(): boolean {
    return this.output.bytes >= READY.length;
  }

  /** Whether all that was written has come back. */
  get isEven(): boolean {
    return this.output.bytes === READY.length + this.#written && this.#unanswered.length === 0;
  }

  /** Sends a random number of bytes, unless too much would be unread. */
  write(client: WireClient, random: Random): void {
    const length = 1 + random.below(MAX_WRITE_BYTES);
    const unread = READY.length + this.#written - this.output.bytes;
    if (unread + length > MAX_UNREAD_BYTES) return;
    const write = { writeId: `${this.id} ${++this.#writes}`, offset: this.#written, length };
    this.#written += length;
    this.#unanswered.push(write);
    this.#send(client, write);
  }

  /** What was perhaps written, and perhaps not, before the connection ended. */
  repeatWrites(client: WireClient): void {
    for (const write of this.#unanswered) this.#send(client, write);
  }

  #send(client: WireClient, write: Write): void {
    const bytes = new Uint8Array(write.length);
    for (let index = 0; index < bytes.length; index++) bytes[index] = pattern(write.offset + index);
    const chunk = bytes.toBase64();
    const answer = client.request("process/write", { processId: this.id, chunk, writeId: write.writeId });
    answer.then(({ status }) => {
      if (status !== "accepted") throw new Error(`${write.writeId} was answered ${status}`);
      this.#unanswered = this.#unanswered.filter((each) => each !== write);
      this.output.onProgress();
    }, () => {}); // The connection ended first; it is repeated on the next one.
  }
}

/** A program that speaks on its own account, also while nobody listens: `tick 0`, `tick 1`, … */
export class Ticker {
  readonly output: Assembly;
  readonly spec: ProgramSpec = {
    argv: ["sh", "-c", "n=0; while :; do echo tick $n; n=$((n + 1)); sleep 0.005; done"],
  };

  constructor(readonly id: string) {
    let [line, start, next] = ["tick 0\n", 0, 1];
    this.output = new Assembly((offset) => {
      if (offset - start === line.length) [line, start] = [`tick ${next++}\n`, offset];
      return line.charCodeAt(offset - start);
    });
  }
}

/** Starts either kind. */
export async function startSteady(client: WireClient, { id, spec }: Mirror | Ticker): Promise<void> {
  await client.request("process/start", startParams(id, spec));
}

const READY = "ready\n";
const mirrored: Expectation = (offset) =>
  offset < READY.length ? READY.charCodeAt(offset) : pattern(offset - READY.length);

/** Bytes that repeat so late that a piece in the wrong place cannot fit. */
function pattern(offset: number): number {
  return Math.imul(offset + 1, 0x9e3779b1) >>> 24 ^ offset >>> 16 & 0xff;
}
