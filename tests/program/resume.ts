/** Breaks connections in the middle of everything, resumes, and wants every byte exactly once and in order. */
import assert from "node:assert/strict";
import { frame, OPCODE } from "../support/wire_carriers.ts";
import { type WireClient, WireError } from "../support/wire_client.ts";
import { inTime, pause } from "./eventually.ts";
import type { Random } from "./random.ts";
import type { RunningServer } from "./running_server.ts";
import { Mirror, startSteady, Ticker } from "./steady_program.ts";

/** How long a server may take to notice that the old connection is gone, in attempts of {@linkcode RETRY_MS}. */
const ATTEMPTS = 500;
const RETRY_MS = 20;
/** -32010: another connection still holds the session. */
const STILL_ATTACHED = -32010;

/** One session, its programs, and the connection that it has at the moment. */
export class ResumedSession implements AsyncDisposable {
  readonly mirrors = [Mirror.onPipes("mirror on pipes"), Mirror.onTerminal("mirror on a terminal")];
  readonly ticker = new Ticker("ticker");
  #events = Promise.withResolvers<void>();
  /** What a check in a callback found; told at the next step. */
  #failure: unknown = null;

  private constructor(
    readonly server: RunningServer,
    readonly random: Random,
    private client: WireClient,
    private readonly sessionId: string,
  ) {}

  static async open(server: RunningServer, random: Random): Promise<ResumedSession> {
    const client = await server.connect();
    const session = new ResumedSession(server, random, client, await client.initialize());
    session.#listen();
    for (const program of session.#programs) await startSteady(client, program);
    await session.#until("the programs are ready", () => session.mirrors.every(({ isReady }) => isReady));
    return session;
  }

  get #programs(): (Mirror | Ticker)[] {
    return [...this.mirrors, this.ticker];
  }

  /** Writes, breaks the connection somehow, resumes and catches up. */
  async survive(): Promise<void> {
    for (let writes = this.random.below(12); writes > 0; writes--) {
      this.random.pick(this.#mirrorPair).write(this.client, this.random);
    }
    if (this.random.below(3) === 0) await this.#fillUnread();
    for (let events = this.random.below(30); events > 0 && await this.#event(); events--);
    if (this.random.below(4) === 0) this.#pollForLong();
    await this.#breakConnection();
    if (this.random.below(2) === 0) await pause(this.random.below(30));
    await this.#resume();
    await this.#catchUp();
    this.#check();
  }

  /** Waits until all that was written has come back, ends the programs, and wants their last words. */
  async finish(): Promise<void> {
    await this.#until("everything has come back", () => this.mirrors.every(({ isEven }) => isEven));
    for (const { id } of this.#programs) await this.client.request("process/terminate", { processId: id });
    await this.#until("everything has closed", () => this.#programs.every(({ output }) => output.closed));
    for (const { id, output } of this.#programs) assert.deepEqual(output.waiting, [], id);
  }

  get #mirrorPair(): [Mirror, ...Mirror[]] {
    return this.mirrors as [Mirror, Mirror];
  }

  #listen(): void {
    this.client.onNotification = (method, params) => {
      const program = this.#programs.find(({ id }) => id === params["processId"]);
      try {
        assert.ok(program !== undefined, `${method} of a process that is not ours`);
        program.output.hear(method, params);
      } catch (error) {
        this.#failure ??= error;
      }
      this.#events.resolve();
      this.#events = Promise.withResolvers();
    };
    for (const { output } of this.#programs) {
      output.reconnected();
      output.onProgress = () => {
        this.#events.resolve();
        this.#events = Promise.withResolvers();
      };
    }
  }

  /** Stops reading and writes as much as may be unread: it is what is retained that has to be enough. */
  async #fillUnread(): Promise<void> {
    this.client.pauseReading();
    const mirror = this.random.pick(this.#mirrorPair);
    for (let writes = 0; writes < 40; writes++) mirror.write(this.client, this.random);
    await this.client.flushed();
  }

  async #breakConnection(): Promise<void> {
    const kind = this.random.pick(["drop", "drop after the last byte", "close frame", "half a message", "violation"]);
    if (kind === "close frame") this.client.sendClose(1000);
    if (kind === "half a message") {
      const [begun] = frame(OPCODE.text, new TextEncoder().encode('{"id":1,"method":"process/wri'), 5_000);
      this.client.sendBytes(begun);
    }
    if (kind === "violation") this.client.notify("no such notification");
    if (kind !== "drop") await this.client.flushed();
    this.client.resumeReading();
    if (kind === "close frame") await inTime("the answer to a close frame", this.client.ended);
    await this.client[Symbol.asyncDispose]();
  }

  /** Holds up what comes behind it, and must not hold up the resume. */
  #pollForLong(): void {
    const params = { processId: this.ticker.id, afterSeq: Number.MAX_SAFE_INTEGER, waitMs: 60_000 };
    this.client.request("process/read", params).catch(() => {}); // the end of the connection fails it
    for (const mirror of this.mirrors) mirror.write(this.client, this.random);
  }

  async #resume(): Promise<void> {
    this.client = await this.server.connect();
    this.#listen();
    for (let attempt = 1;; attempt++) {
      try {
        assert.equal(await this.client.initialize(this.sessionId), this.sessionId);
        break;
      } catch (error) {
        if (!(error instanceof WireError) || error.code !== STILL_ATTACHED || attempt === ATTEMPTS) throw error;
        await pause(RETRY_MS);
      }
    }
    for (const mirror of this.mirrors) mirror.repeatWrites(this.client);
  }

  async #catchUp(): Promise<void> {
    for (const { id, output } of this.#programs) {
      const maxBytes = this.random.pick([null, 1, 5_000, 100_000]);
      // Reads in steps of one chunk would take long after a flood; the rest is read at once.
      for (let step = 0, before = -1; output.seq > before; step++) {
        before = output.seq;
        const params = { processId: id, afterSeq: before, maxBytes: step < 20 ? maxBytes : null };
        output.read(await this.client.request("process/read", params));
      }
      assert.deepEqual(output.waiting, [], `${id}: a gap after number ${output.seq}`);
    }
  }

  /** Resolves at the next event, or with false after a moment without one. */
  async #event(): Promise<boolean> {
    const timeout = Promise.withResolvers<boolean>();
    const timer = setTimeout(() => timeout.resolve(false), RETRY_MS);
    const came = await Promise.race([this.#events.promise.then(() => true), timeout.promise]);
    clearTimeout(timer);
    this.#check();
    return came;
  }

  async #until(what: string, isTrue: () => boolean): Promise<void> {
    await inTime(
      what,
      (async () => {
        while (!isTrue()) await this.#event();
      })(),
    );
  }

  #check(): void {
    if (this.#failure !== null) throw this.#failure;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.client[Symbol.asyncDispose]();
  }
}

/** `count` disconnections of one session. */
export async function surviveDisconnections(server: RunningServer, count: number, random: Random): Promise<void> {
  await using session = await ResumedSession.open(server, random);
  for (let survived = 0; survived < count; survived++) await session.survive();
  await session.finish();
}
