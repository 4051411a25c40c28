import { type Clock, systemClock } from "../clock.ts";
import type { ReadResult } from "../protocol/process.ts";
import type { CallOptions } from "./calls.ts";
import { ClientError } from "./client_error.ts";
import { KILL_GRACE_MS } from "./limits.ts";
import type { ExecProcess, ProcessEvent, ProcessExit, TerminalSize } from "./process.ts";
import type { OutputName, ProcessFeed } from "./process_feed.ts";
import type { ProcessPort, ReadQuery } from "./process_port.ts";

export interface ProcessHandleOptions {
  readonly id: string;
  /** `none`, or what confines it. */
  readonly sandboxType: string;
  readonly feed: ProcessFeed;
  readonly port: ProcessPort;
  readonly clock?: Clock;
}

/** A running program as its caller sees it: what its feed tells, and what its port can do. */
export class ProcessHandle implements ExecProcess {
  readonly id: string;
  readonly sandboxType: string;
  readonly exited: Promise<ProcessExit>;
  readonly #feed: ProcessFeed;
  readonly #port: ProcessPort;
  readonly #clock: Clock;
  readonly #streams = new Map<OutputName, ReadableStream<Uint8Array<ArrayBuffer>>>();
  #disposal: Promise<void> | undefined;

  constructor({ id, sandboxType, feed, port, clock = systemClock }: ProcessHandleOptions) {
    this.id = id;
    this.sandboxType = sandboxType;
    this.#feed = feed;
    this.#port = port;
    this.#clock = clock;
    this.exited = feed.exited.then((event) => this.#exit(event));
    // Whoever waits for it hears of a failure; nobody has to.
    this.exited.catch(() => {});
  }

  get closed(): Promise<void> {
    return this.#feed.closed;
  }

  get stdout(): ReadableStream<Uint8Array<ArrayBuffer>> {
    return this.#stream("stdout");
  }

  get stderr(): ReadableStream<Uint8Array<ArrayBuffer>> {
    return this.#stream("stderr");
  }

  get output(): ReadableStream<Uint8Array<ArrayBuffer>> {
    return this.#stream("output");
  }

  [Symbol.asyncIterator](): AsyncIterator<ProcessEvent, undefined> {
    return this.#feed.events();
  }

  async write(data: string | Uint8Array, options?: CallOptions): Promise<void> {
    await this.#port.write(asBytes(data), options);
  }

  async closeStdin(options?: CallOptions): Promise<void> {
    await this.#port.closeStdin(options);
  }

  async interrupt(options?: CallOptions): Promise<void> {
    await this.#port.interrupt(options);
  }

  async signal(name: string, options?: CallOptions): Promise<void> {
    await this.#port.signal(name, options);
  }

  async resize(size: TerminalSize, options?: CallOptions): Promise<void> {
    await this.#port.resize(size, options);
  }

  async terminate(options?: CallOptions): Promise<boolean> {
    return await this.#port.terminate(options);
  }

  async read(query: Partial<ReadQuery> = {}, options?: CallOptions): Promise<ReadResult> {
    const { afterSeq = 0, maxBytes = null, waitMs = 0 } = query;
    return await this.#port.read({ afterSeq, maxBytes, waitMs }, options);
  }

  /**
   * Ends the program if it is still running, gives it a moment to be gone, and lets go of it.
   *
   * @throws {ClientError} If it could not be ended although nothing is wrong with the connection.
   */
  [Symbol.asyncDispose](): Promise<void> {
    return this.#disposal ??= this.#dispose();
  }

  async #dispose(): Promise<void> {
    try {
      this.#feed.neverHold();
      if (this.#feed.exitEvent === undefined) await this.#kill();
    } finally {
      this.#port.release();
      this.#feed.fail(new ClientError("closed", `process ${this.id} was let go before its end`));
    }
  }

  async #kill(): Promise<void> {
    try {
      if (!await (this.#port.kill?.() ?? this.#port.terminate())) return;
    } catch (error) {
      // Its readers have been told why, and a server without its client ends the process itself.
      if (this.#feed.failure !== undefined) return;
      throw error;
    }
    const grace = Promise.withResolvers<void>();
    const timer = this.#clock.after(KILL_GRACE_MS, grace.resolve);
    try {
      await Promise.race([this.#feed.closed.catch(() => {}), grace.promise]);
    } finally {
      timer.cancel();
    }
  }

  #stream(name: OutputName): ReadableStream<Uint8Array<ArrayBuffer>> {
    let stream = this.#streams.get(name);
    if (stream === undefined) this.#streams.set(name, stream = this.#feed.stream(name));
    return stream;
  }

  async #exit({ code, sandboxDenied }: { code: number; sandboxDenied: boolean }): Promise<ProcessExit> {
    // No signal leaves the code 0, on no server.
    if (code === 0) return { code, signal: null, reason: "exited", sandboxDenied };
    const details = await this.#port.end?.() ?? {};
    return { code, signal: null, reason: null, sandboxDenied, ...details };
  }
}

/** Text as UTF-8; bytes as they are now, whatever their owner does with them afterwards. */
function asBytes(data: string | Uint8Array): Uint8Array<ArrayBuffer> {
  return typeof data === "string" ? new TextEncoder().encode(data) : new Uint8Array(data);
}
