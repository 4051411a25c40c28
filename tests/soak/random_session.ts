/** A client that does whatever comes to its mind, and knows for each of its programs what may be seen of it. */
import assert from "node:assert/strict";
import { Assembly } from "../program/assembly.ts";
import { inTime, pause } from "../program/eventually.ts";
import { type ProgramSpec, startParams } from "../program/process_watch.ts";
import type { Random } from "../program/random.ts";
import type { RunningServer } from "../program/running_server.ts";
import { type WireClient, WireError } from "../support/wire_client.ts";

/** How many programs one session has at most at the same time. */
const MAX_PROGRAMS = 12;
const RETRY_MS = 20;
const STILL_ATTACHED = -32010;

interface Subject {
  readonly id: string;
  readonly output: Assembly;
  readonly tty: boolean;
  /** What its exit code may be; grows with what is done to it. */
  readonly exitCodes: Set<number>;
}

interface ReadResult {
  chunks: { seq: number; chunk: string }[];
  nextSeq: number;
  exited: boolean;
  exitCode: number | null;
  closed: boolean;
}

export class RandomSession implements AsyncDisposable {
  readonly #subjects = new Map<string, Subject>();
  #started = 0;
  #failure: unknown = null;
  #event = Promise.withResolvers<void>();

  private constructor(
    readonly server: RunningServer,
    readonly random: Random,
    readonly mark: string,
    private client: WireClient,
    private readonly sessionId: string,
  ) {
    this.#listen();
  }

  static async open(server: RunningServer, random: Random, mark: string): Promise<RandomSession> {
    const client = await server.connect();
    return new RandomSession(server, random, mark, client, await client.initialize());
  }

  /** Does one thing. */
  async step(): Promise<void> {
    if (this.#failure !== null) throw this.#failure;
    const deed = this.random.below(20);
    if (deed < 8) await this.#start();
    else if (deed < 12) await this.#read();
    else if (deed < 14) await this.#interrupt();
    else if (deed < 17) await this.#terminate();
    else if (deed < 19) await pause(this.random.below(20));
    else await this.#reconnect();
  }

  /** Ends what still runs, waits for the last words and checks the exit codes. */
  async finish(): Promise<void> {
    for (const subject of this.#subjects.values()) {
      if (subject.output.exitCode === null) await this.#terminateOne(subject);
    }
    await inTime("all programs to close", this.#allClosed());
    for (const subject of this.#subjects.values()) this.#checkEnd(subject);
  }

  async #allClosed(): Promise<void> {
    while ([...this.#subjects.values()].some(({ output }) => !output.closed)) {
      if (this.#failure !== null) throw this.#failure;
      await this.#event.promise;
    }
  }

  #checkEnd({ id, output, exitCodes }: Subject): void {
    assert.deepEqual(output.waiting, [], id);
    assert.ok(exitCodes.has(output.exitCode!), `${id} ended with ${output.exitCode}, not one of ${[...exitCodes]}`);
  }

  async #start(): Promise<void> {
    this.#forgetClosed();
    if (this.#subjects.size >= MAX_PROGRAMS) return;
    const tty = this.random.below(2) === 0;
    const [spec, expected, code] = this.random.pick([speaker, sleeper, failing])(this.random, tty);
    const id = `program ${++this.#started}`;
    const output = new Assembly((offset) => expected.charCodeAt(offset));
    this.#subjects.set(id, { id, output, tty, exitCodes: new Set([code]) });
    await this.client.request("process/start", startParams(id, { ...spec, tty, mark: this.mark }));
  }

  #forgetClosed(): void {
    for (const subject of this.#subjects.values()) {
      if (!subject.output.closed) continue;
      this.#checkEnd(subject);
      this.#subjects.delete(subject.id);
    }
  }

  async #read(): Promise<void> {
    const subject = this.#any();
    if (subject === null) return;
    const afterSeq = this.random.below(subject.output.seq + 1);
    const [maxBytes, waitMs] = [this.random.pick([null, 0, 100, 10_000]), this.random.below(10)];
    const result = await this.client.request<ReadResult>("process/read", {
      processId: subject.id,
      afterSeq,
      maxBytes,
      waitMs,
    });
    const numbers = result.chunks.map(({ seq }) => seq);
    assert.deepEqual(numbers, numbers.filter((seq) => seq > afterSeq).toSorted((a, b) => a - b));
    subject.output.read(result);
  }

  async #interrupt(): Promise<void> {
    const subject = this.#any();
    if (subject === null) return;
    subject.exitCodes.add(subject.tty ? 1 : 130);
    const params = { processId: subject.id, signal: "interrupt" };
    assert.deepEqual(await this.client.request("process/signal", params), {});
  }

  async #terminate(): Promise<void> {
    const subject = this.#any();
    if (subject !== null) await this.#terminateOne(subject);
  }

  async #terminateOne(subject: Subject): Promise<void> {
    subject.exitCodes.add(subject.tty ? 1 : 137);
    await this.client.request("process/terminate", { processId: subject.id });
  }

  async #reconnect(): Promise<void> {
    await this.client[Symbol.asyncDispose]();
    await pause(this.random.below(50));
    this.client = await this.server.connect();
    this.#listen();
    for (;;) {
      try {
        assert.equal(await this.client.initialize(this.sessionId), this.sessionId);
        break;
      } catch (error) {
        if (!(error instanceof WireError) || error.code !== STILL_ATTACHED) throw error;
        await pause(RETRY_MS);
      }
    }
    for (const { id, output } of this.#subjects.values()) {
      const state = await this.client.request<ReadResult>("process/read", { processId: id, afterSeq: output.seq });
      output.read(state);
      output.caughtUp(state);
    }
  }

  #any(): Subject | null {
    const [first, ...others] = this.#subjects.values();
    return first === undefined ? null : this.random.pick([first, ...others]);
  }

  #listen(): void {
    for (const { output } of this.#subjects.values()) output.reconnected();
    this.client.onNotification = (method, params) => {
      try {
        const subject = this.#subjects.get(params["processId"] as string);
        assert.ok(subject !== undefined, `${method} of a process that is not there`);
        subject.output.hear(method, params);
      } catch (error) {
        this.#failure ??= error;
      }
      this.#event.resolve();
      this.#event = Promise.withResolvers();
    };
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.client[Symbol.asyncDispose]();
  }
}

/** What to start, what it says and how it ends by itself. */
type Kind = (random: Random, tty: boolean) => [ProgramSpec, string, number];

const speaker: Kind = (random, tty) => {
  const last = 1 + random.below(20_000);
  const text = Array.from({ length: last }, (_, index) => `${index + 1}${tty ? "\r\n" : "\n"}`).join("");
  return [{ argv: ["seq", String(last)] }, text, 0];
};

/** It would outlive the test by far. */
const sleeper: Kind = () => [{ argv: ["sleep", "1000"] }, "", 0];

const failing: Kind = (random) => {
  const code = random.below(256);
  return [{ argv: ["sh", "-c", `sleep 0.0${random.below(10)}; exit ${code}`] }, "", code];
};
