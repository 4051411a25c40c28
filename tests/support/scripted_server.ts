import assert from "node:assert/strict";
import { setImmediate } from "node:timers";
import type { Carrier, OpenedConnection, OpenOptions, ResumeStrategy } from "../../lib/client/carrier.ts";
import type { Connection, ConnectionEnd } from "../../lib/rpc/connection.ts";
import { memoryPair } from "../../lib/rpc/memory.ts";

const decoder = new TextDecoder();

// deno-lint-ignore no-explicit-any -- messages are looked at member by member
export type Wire = any;

/** The server's end of one connection, played by the test. */
export class FarEnd {
  readonly #connection: Connection;
  readonly #inbox: Wire[] = [];
  #waiting: ((message: Wire) => void) | undefined;
  readonly #end = Promise.withResolvers<ConnectionEnd>();
  #ended = false;

  constructor(connection: Connection) {
    this.#connection = connection;
    connection.start({
      message: (message) => this.#take(JSON.parse(typeof message === "string" ? message : decoder.decode(message))),
      ended: (end) => {
        this.#ended = true;
        this.#end.resolve(end);
      },
    });
  }

  #take(message: Wire): void {
    const waiting = this.#waiting;
    this.#waiting = undefined;
    if (waiting === undefined) this.#inbox.push(message);
    else waiting(message);
  }

  /** Resolves when the connection has ended. */
  get end(): Promise<ConnectionEnd> {
    return this.#end.promise;
  }

  get ended(): boolean {
    return this.#ended;
  }

  /** What came and was not asked for. */
  get unread(): readonly Wire[] {
    return this.#inbox;
  }

  /** The next message of the client; only one may be waited for at a time. */
  next(): Promise<Wire> {
    if (this.#inbox.length > 0) return Promise.resolve(this.#inbox.shift());
    return new Promise((resolve) => this.#waiting = resolve);
  }

  /** The next message, which must be a request of this method. */
  async request(method: string): Promise<Wire> {
    const message = await this.next();
    assert.equal(message.method, method);
    assert.notEqual(message.id, undefined, `${method} is no request`);
    return message;
  }

  send(message: unknown): void {
    this.#connection.send(typeof message === "string" ? message : JSON.stringify(message));
  }

  answer(id: number, result: unknown): void {
    this.send({ id, result });
  }

  refuse(id: number, code: number, message: string, data?: unknown): void {
    this.send({ id, error: { code, message, data } });
  }

  /** Plays the handshake. @returns The parameters of `initialize`. */
  async shakeHands(result: unknown = { sessionId: "s1", environmentInfo: INFO }): Promise<Wire> {
    const { id, params } = await this.request("initialize");
    assert.equal(id, 1, "ids count from 1 on each connection");
    this.answer(id, result);
    assert.deepEqual(await this.next(), { method: "initialized", params: {} });
    return params;
  }

  /** Ends the connection. Resolves when the client has noticed. */
  async close(): Promise<void> {
    this.#connection.close();
    await idle();
  }
}

/** The least that an environment may tell of itself. */
export const INFO = { shell: { name: "bash", path: "/bin/bash" } };

/** What {@linkcode ScriptedCarrier} does with an attempt. */
export type OpenAct = (options: OpenOptions) => Promise<Partial<OpenedConnection> | void>;

/** Opens connections in memory; the test gets the far end of each. */
export class ScriptedCarrier implements Carrier {
  readonly label = "exec-server websocket ws://test";
  readonly resume: ResumeStrategy | null;
  readonly renewable = true;
  /** What the next attempts do before a connection comes: throw, wait, or give what it has besides. */
  readonly acts: OpenAct[] = [];
  attempts = 0;
  /** Pauses that were asked for. */
  readonly pauses: { readonly sessionId: string; readonly attempt: number }[] = [];
  readonly #ends: FarEnd[] = [];
  #waiting: ((end: FarEnd) => void) | undefined;

  constructor(options: { resumable?: boolean; pauseMs?: number } = {}) {
    const { resumable = true, pauseMs = 100 } = options;
    this.resume = !resumable ? null : {
      pauseMs: (sessionId, attempt) => {
        this.pauses.push({ sessionId, attempt });
        return pauseMs;
      },
    };
  }

  async open(options: OpenOptions): Promise<OpenedConnection> {
    this.attempts++;
    const extras = await this.acts.shift()?.(options) ?? {};
    const [near, far] = memoryPair();
    const end = new FarEnd(far);
    const waiting = this.#waiting;
    this.#waiting = undefined;
    if (waiting === undefined) this.#ends.push(end);
    else waiting(end);
    return { connection: near, ...extras };
  }

  /** The server's end of the next connection; only one may be waited for at a time. */
  accept(): Promise<FarEnd> {
    if (this.#ends.length > 0) return Promise.resolve(this.#ends.shift()!);
    return new Promise((resolve) => this.#waiting = resolve);
  }

  /** Waits for the next connection and plays its handshake. */
  async acceptAndShakeHands(result?: unknown): Promise<FarEnd> {
    const end = await this.accept();
    await end.shakeHands(result);
    return end;
  }
}

/** Lets everything run that waits for nothing but its turn. */
export async function idle(): Promise<void> {
  await new Promise<void>((resolve) => setImmediate(resolve));
}
