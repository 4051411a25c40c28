/** The HTTP server on loopback that `http/request` talks to: it answers as it is told and remembers what it saw. */
import type { Bindings } from "./bindings.ts";
import { Mismatch, show } from "./mismatch.ts";

export interface PeerRequest {
  /** Request line and header lines, as they came. */
  readonly head: readonly string[];
  /** One character per byte. */
  readonly body: string;
}

/** What the peer does, one after the other: sends text, one character per byte, or waits so many milliseconds. */
export type Step = string | number;

export interface PeerAnswer {
  readonly steps: readonly Step[];
  /** The connection ends after the last step; otherwise it waits for the next request. */
  readonly close?: boolean;
}

export type Answerer = (request: PeerRequest) => PeerAnswer | Promise<PeerAnswer>;

export class HttpPeer implements AsyncDisposable {
  readonly #listener = Deno.listen({ hostname: "127.0.0.1", port: 0 });
  readonly #answerer: Answerer;
  readonly #connections = new Set<Deno.TcpConn>();
  readonly #serving: Promise<void>;
  readonly #ended = Promise.withResolvers<void>();
  /** Since the last message was sent, not yet compared. */
  #seen: PeerRequest[] = [];
  #compared = false;
  #failure: Error | null = null;

  constructor(answerer: Answerer) {
    this.#answerer = answerer;
    this.#serving = this.#accept();
  }

  get port(): number {
    return this.#listener.addr.port;
  }

  /** Compares the next request since the last message was sent. @throws {Mismatch} */
  expectRequest(expected: PeerRequest, bindings: Bindings): void {
    this.#compared = true;
    const seen = this.#seen.shift();
    const same = seen !== undefined && seen.head.length === expected.head.length &&
      expected.head.every((line, i) => bindings.match(line, seen.head[i]!)) && seen.body === expected.body;
    if (!same) throw new Mismatch(`the HTTP server expected ${show(expected)}, got ${show(seen ?? "nothing")}`);
  }

  /** Compares how many requests came since the last message was sent. @throws {Mismatch} */
  expectRequests(count: number): void {
    if (this.#seen.length !== count) {
      throw new Mismatch(`the HTTP server expected ${count} requests, got ${this.#seen.length}`);
    }
    this.#seen = [];
  }

  /** To be called before the next message is sent. @throws {Mismatch} If there were more requests than recorded. */
  finishRequests(): void {
    if (this.#failure !== null) throw this.#failure;
    if (this.#compared && this.#seen.length > 0) {
      throw new Mismatch(`the HTTP server got unexpected requests: ${show(this.#seen)}`);
    }
    this.#seen = [];
    this.#compared = false;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#ended.resolve();
    this.#listener.close();
    for (const connection of this.#connections) connection.close();
    this.#connections.clear();
    await this.#serving;
  }

  async #accept(): Promise<void> {
    const all: Promise<void>[] = [];
    for await (const connection of this.#listener) {
      this.#connections.add(connection);
      all.push(this.#serve(connection).catch((error) => this.#failed(error)));
    }
    await Promise.all(all);
  }

  async #serve(connection: Deno.TcpConn): Promise<void> {
    let pending = "";
    const buffer = new Uint8Array(65_536);
    while (true) {
      const request = parse(pending);
      if (request === null) {
        const count = await connection.read(buffer);
        if (count === null) break;
        pending += text(buffer.subarray(0, count));
        continue;
      }
      pending = pending.slice(request.size);
      this.#seen.push({ head: request.head, body: request.body });
      const { steps, close } = await this.#answerer(request);
      for (const step of steps) await this.#step(connection, step);
      if (close) break;
    }
    if (this.#connections.delete(connection)) connection.close();
  }

  #failed(error: Error): void {
    if (!ENDS.some((end) => error instanceof end)) this.#failure ??= error;
  }

  async #step(connection: Deno.TcpConn, step: Step): Promise<void> {
    if (typeof step === "number") return await this.#pause(step);
    const bytes = Uint8Array.from(step, (char) => char.charCodeAt(0));
    for (let at = 0; at < bytes.length;) at += await connection.write(bytes.subarray(at));
  }

  async #pause(ms: number): Promise<void> {
    const { promise, resolve } = Promise.withResolvers<void>();
    const timer = setTimeout(resolve, ms);
    await Promise.race([promise, this.#ended.promise]);
    clearTimeout(timer);
  }
}

/** A client that gave up, or the end of the test. */
const ENDS = [Deno.errors.BrokenPipe, Deno.errors.ConnectionReset, Deno.errors.BadResource, Deno.errors.Interrupted];

/** The first request, if it is complete; bodies have a length. */
function parse(pending: string): PeerRequest & { readonly size: number } | null {
  const end = pending.indexOf("\r\n\r\n");
  if (end === -1) return null;
  const head = pending.slice(0, end).split("\r\n");
  const lengths = head.map((line) => /^content-length: *(\d+)$/i.exec(line)?.[1]);
  const size = end + 4 + Number(lengths.find((length) => length !== undefined) ?? 0);
  return pending.length < size ? null : { head, body: pending.slice(end + 4, size), size };
}

function text(bytes: Uint8Array): string {
  return Array.from(bytes, (byte) => String.fromCharCode(byte)).join("");
}
