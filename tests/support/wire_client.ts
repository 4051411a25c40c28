/**
 * A small client of the wire for tests and measurements. It is written against the protocol alone and shares no code
 * with the server.
 */
import { type Carrier, type End, frame, LineCarrier, OPCODE, WebSocketCarrier } from "./wire_carriers.ts";

/** Members of a JSON object of which only the caller knows what to expect. */
export type Members = Record<string, unknown>;

/** An error answer. `code` and `data` are the wire's. */
export class WireError extends Error {
  override readonly name = "WireError";
  constructor(readonly code: number, message: string, readonly data: unknown) {
    super(message);
  }
}

interface Pending {
  resolve(result: unknown): void;
  reject(error: Error): void;
}

export class WireClient implements AsyncDisposable {
  /** Hears every notification, in the order of the wire. */
  onNotification: (method: string, params: Members) => void = () => {};
  /**
   * Sees every message before it is parsed, so that a flood can be counted at the price of a glance. True: that was
   * all, nothing more is done with it.
   */
  tap: ((message: string) => boolean) | null = null;
  /** Resolves, never rejects, when nothing more can come. */
  readonly ended: Promise<End>;

  readonly #carrier: Carrier;
  readonly #pending = new Map<number, Pending>();
  readonly #end = Promise.withResolvers<End>();
  #nextId = 1;
  #over: End | null = null;
  #writes: Promise<unknown> = Promise.resolve();
  #paused: PromiseWithResolvers<void> | null = null;
  readonly #pumped: Promise<void>;

  private constructor(carrier: Carrier) {
    this.#carrier = carrier;
    this.ended = this.#end.promise;
    this.#pumped = this.#pump();
  }

  /**
   * Connects to `ws://IP:PORT`.
   *
   * @throws {Error} With the status line, if the server refuses the upgrade.
   */
  static async connect(url: string, headers: Readonly<Record<string, string>> = {}): Promise<WireClient> {
    return new WireClient(await WebSocketCarrier.connect(url, headers));
  }

  /** Talks to a child through its stdin and stdout, which the client owns from then on. */
  static overStdio(child: Deno.ChildProcess): WireClient {
    return new WireClient(new LineCarrier(child));
  }

  /** Sends a request; rejects with {@linkcode WireError} on an error answer, and when the conversation ends first. */
  request<T = Members>(method: string, params: unknown = null): Promise<T> {
    const id = this.#nextId++;
    const { promise, resolve, reject } = Promise.withResolvers<T>();
    if (this.#over !== null) {
      reject(new Error(`${method}: the conversation is over: ${this.#over.reason}`));
      return promise;
    }
    this.#pending.set(id, { resolve: resolve as (result: unknown) => void, reject });
    this.send(JSON.stringify({ id, method, params }));
    return promise;
  }

  notify(method: string, params: unknown = null): void {
    this.send(JSON.stringify({ method, params }));
  }

  /** The handshake; `resume` names a session to take over. Returns the session's id. */
  async initialize(resume?: string): Promise<string> {
    const params = { clientName: "wire-client", ...(resume === undefined ? {} : { resumeSessionId: resume }) };
    const { sessionId } = await this.request<{ sessionId: string }>("initialize", params);
    this.notify("initialized");
    return sessionId;
  }

  /** Queues one message as it stands. What cannot be written any more is dropped: `ended` tells. */
  send(message: string | Uint8Array): void {
    const payload = typeof message === "string" ? encoder.encode(message) : message;
    for (const piece of this.#carrier.encode(payload)) this.sendBytes(piece);
  }

  /** Queues bytes below the framing, e.g. the beginning of a frame that never ends. */
  sendBytes(bytes: Uint8Array): void {
    this.#writes = this.#writes.then(() => this.#over ?? this.#carrier.write(bytes)).catch(ignoreAfterEnd);
  }

  /** Resolves when all that was queued has been handed to the system, or can no longer be. */
  async flushed(): Promise<void> {
    await this.#writes;
  }

  /** Ends our half when all that was queued has been written: end of file on stdin, FIN on TCP. */
  endInput(): void {
    this.#writes = this.#writes.then(() => this.#over ?? this.#carrier.endInput()).catch(ignoreAfterEnd);
  }

  /** Stops taking messages; one read that is under way may still fill the buffer. */
  pauseReading(): void {
    this.#paused ??= Promise.withResolvers();
  }

  resumeReading(): void {
    this.#paused?.resolve();
    this.#paused = null;
  }

  /** WebSocket: sends a close frame. */
  sendClose(code: number): void {
    this.sendBytes(frame(OPCODE.close, new Uint8Array([code >> 8, code & 0xff]), 2)[0]!);
  }

  /** Ends the carrier on the spot: no close frame, and a reset if there was something unread. */
  drop(): void {
    this.#finish({ code: null, reason: "dropped by the client" });
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.drop();
    await this.#pumped;
    await this.#writes;
  }

  async #pump(): Promise<void> {
    try {
      while (this.#over === null) {
        await this.#untilResumed();
        const { messages, end } = await this.#carrier.receive();
        for (const message of messages) {
          if (this.#paused !== null) await this.#untilResumed();
          this.#message(message);
        }
        if (end !== null) this.#finish(end);
      }
    } catch (error) {
      this.#finish({ code: null, reason: error instanceof Error ? error.message : String(error) });
    }
  }

  async #untilResumed(): Promise<void> {
    while (this.#paused !== null) await this.#paused.promise;
  }

  #message(text: string): void {
    if (this.#over !== null || this.tap?.(text)) return;
    const message = JSON.parse(text) as Members;
    if (typeof message["method"] === "string") {
      return this.onNotification(message["method"], message["params"] as Members);
    }
    const id = message["id"] as number;
    const pending = this.#pending.get(id);
    if (pending === undefined) throw new Error(`an answer that nobody waits for: ${text.slice(0, 500)}`);
    this.#pending.delete(id);
    const error = message["error"] as { code: number; message: string; data?: unknown } | undefined;
    if (error === undefined) pending.resolve(message["result"]);
    else pending.reject(new WireError(error.code, error.message, error.data));
  }

  #finish(end: End): void {
    if (this.#over !== null) return;
    this.#over = end;
    this.#carrier.end();
    this.resumeReading();
    for (const { reject } of this.#pending.values()) reject(new Error(`the conversation is over: ${end.reason}`));
    this.#pending.clear();
    this.#end.resolve(end);
  }
}

const encoder = new TextEncoder();

/** A carrier that ends fails what is under way; `ended` has told already, or the reader is about to. */
function ignoreAfterEnd(): void {}
