import type { Clock } from "../clock.ts";
import type { Log } from "../log.ts";
import type { Message } from "../rpc/connection.ts";
import { urlDefect } from "../url_defect.ts";
import { FORWARD_CONNECT_TIMEOUT_MS } from "./limits.ts";
import { dialPlain, type PlainSocket } from "./socket/plain_socket.ts";
import { DialError } from "./socket/relay_socket.ts";
import type { RelayStream } from "./stream/stream.ts";

/**
 * Checks where a forwarder is to hand streams on to.
 *
 * @param url `ws://` or `wss://` with a host; path and query are kept.
 * @throws {Error} It is no such URL.
 */
export function forwardDestination(url: string): string {
  const failure = (why: string) => new Error(`failed to configure exec-server websocket: ${why}`);
  const parsed = URL.parse(url);
  if (parsed === null) throw failure(urlDefect(url));
  if (parsed.protocol !== "ws:" && parsed.protocol !== "wss:") {
    throw failure("forward destination must be a ws:// or wss:// URL");
  }
  return parsed.href;
}

/** What a forwarder needs of a stream. */
export type ForwardedStream = Pick<RelayStream, "start" | "sendBytes" | "congested" | "drained" | "close">;

export interface ForwarderOptions {
  /** As {@linkcode forwardDestination} gives it. */
  readonly url: string;
  readonly clock: Clock;
  readonly log: Log;
  readonly dial?: typeof dialPlain;
}

/** Joins each stream to a WebSocket of its own, message by message and unread. Leaving the scope ends all of them. */
export class Forwarder implements AsyncDisposable {
  readonly #options: Required<ForwarderOptions>;
  readonly #label: string;
  readonly #over = new AbortController();
  /** As many as there are streams. */
  readonly #running = new Set<Promise<void>>();
  #streams = 0;

  constructor(options: ForwarderOptions) {
    this.#options = { dial: dialPlain, ...options };
    this.#label = `forward destination ${new URL(options.url).origin}`;
  }

  /** Takes a stream in the turn in which it was opened. Its first message waits until the destination is there. */
  open(stream: ForwardedStream): void {
    const running = this.#forward(stream).finally(() => this.#running.delete(running));
    this.#running.add(running);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#over.abort(new Error("the forwarder ends"));
    await Promise.all(this.#running);
  }

  /** Resolves when nothing is left of either end. */
  async #forward(stream: ForwardedStream): Promise<void> {
    const { log } = this.#options;
    const number = ++this.#streams;
    const reached = Promise.withResolvers<PlainSocket>();
    reached.promise.catch(() => {}); // a message may wait for it, or none
    const left = new AbortController();
    const over = AbortSignal.any([left.signal, this.#over.signal]);
    let socket: PlainSocket | undefined;
    stream.start({
      message: (message) =>
        socket === undefined
          ? reached.promise.then((socket) => pass(message, socket), () => {})
          : pass(message, socket),
      ended: ({ reason }) => {
        log.info("stream ended", { stream: number, reason });
        left.abort(new Error("the stream has ended"));
      },
    });
    try {
      socket = await this.#dial(over);
    } catch (error) {
      reached.reject(error);
      if (!over.aborted) log.warn("no connection to the destination", { stream: number, why: dialFailure(error) });
      return stream.close(undefined, "no connection to the destination");
    }
    log.info("stream opened", { stream: number });
    reached.resolve(socket);
    const drop = () => socket?.drop();
    over.addEventListener("abort", drop, { once: true });
    if (over.aborted) drop();
    socket.start({
      message: (message) => {
        if (message.length > 0) return passBack(message, stream);
        return stream.close(undefined, "empty message from the destination");
      },
      ended: ({ reason }) => stream.close(undefined, `destination: ${reason}`),
    });
    await socket.gone;
    over.removeEventListener("abort", drop);
  }

  #dial(signal: AbortSignal): Promise<PlainSocket> {
    const { url, dial, clock } = this.#options;
    return dial(url, { label: this.#label, signal, clock, timeoutMs: FORWARD_CONNECT_TIMEOUT_MS });
  }
}

/** Nothing that the destination said. */
function dialFailure(error: unknown): string {
  return error instanceof DialError ? error.message : `unexpected failure: ${error}`;
}

/** A promise asks for a pause: the destination does not take what it gets. */
function pass(message: Message, socket: PlainSocket): Promise<void> | undefined {
  socket.sendBytes(typeof message === "string" ? new TextEncoder().encode(message) : message);
  return socket.congested ? socket.drained() : undefined;
}

function passBack(message: Message, stream: ForwardedStream): Promise<void> | undefined {
  stream.sendBytes(message);
  return stream.congested ? stream.drained() : undefined;
}
